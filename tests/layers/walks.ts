/** Counts the files that a reader opens to follow one event through the program, over the real import graph. */
import type { Facts } from "./facts.ts";
import { resolveImport } from "./rules.ts";

/** Which file imports which, by type or by value; a walk ends at `#runtime` and at packages. */
export type Graph = ReadonlyMap<string, readonly string[]>;

export function importGraph(files: readonly Facts[]): Graph {
  return new Map(
    files.map((file) => [
      file.path,
      file.imports.filter((specifier) => specifier.startsWith("."))
        .map((specifier) => resolveImport(file.path, specifier)).filter((target) => target !== undefined),
    ]),
  );
}

function reachable(graph: Graph, from: string): Set<string> {
  const seen = new Set([from]);
  for (const path of seen) for (const next of graph.get(path) ?? []) seen.add(next);
  return seen;
}

/** Returns a shortest chain of imports, including both ends; undefined when there is none. */
function chain(graph: Graph, { from, to }: { from: string; to: string }): string[] | undefined {
  const cameFrom = new Map<string, string | undefined>([[from, undefined]]);
  for (const path of cameFrom.keys()) {
    if (path === to) break;
    for (const next of graph.get(path) ?? []) if (!cameFrom.has(next)) cameFrom.set(next, path);
  }
  if (!cameFrom.has(to)) return undefined;
  const files: string[] = [];
  for (let at: string | undefined = to; at !== undefined; at = cameFrom.get(at)) files.unshift(at);
  return files;
}

/** The files that one event passes, one list for each process on its way. */
export type Walk = readonly (readonly string[])[];

/**
 * Returns the stations, and the files on the shortest chain of imports between each and the next, in either direction:
 * a reader goes from a caller to what it calls, and back. Throws when there is no chain.
 */
export function filesOfWalk(graph: Graph, walk: Walk): string[] {
  const found = new Set<string>();
  for (const stations of walk) {
    for (const [index, to] of stations.entries()) {
      const from = stations[index - 1] ?? to;
      const files = graph.has(to)
        ? chain(graph, { from, to }) ?? chain(graph, { from: to, to: from })
        : undefined;
      if (files === undefined) throw new Error(`There is no chain of imports from ${from} to ${to}`);
      for (const file of files) found.add(file);
    }
  }
  return [...found];
}

/** Returns each import circle, by type or by value, as the files in it. */
export function importCircles(files: readonly Facts[]): string[][] {
  const graph = importGraph(files);
  const found = new Map<string, string[]>();
  for (const path of graph.keys()) {
    const circle = (graph.get(path) ?? []).filter((next) => reachable(graph, next).has(path));
    if (circle.length === 0) continue;
    const members = [...reachable(graph, path)].filter((other) => reachable(graph, other).has(path)).sort();
    found.set(members.join(" "), members);
  }
  return [...found.values()];
}

/** Returns the files whose every statement is an import or a re-export. */
export function forwarders(files: readonly Facts[]): string[] {
  const isForwarding = (text: string): boolean =>
    text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "")
      .replace(/^(import|export)\s[^;]*?from\s+"[^"]+";/gm, "").trim() === "";
  return files.filter(({ text }) => isForwarding(text)).map(({ path }) => path);
}
