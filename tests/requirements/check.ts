/** Reads the names of tests out of their source and holds the ids they cite against the requirements. */
import type { Capability, Requirement } from "./row.ts";

/** A source file of the tests, by its path under the checkout. */
export interface TestSource {
  path: string;
  text: string;
}

const LITERAL = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/.source;
const JOINED = `(?:${LITERAL})(?:\\s*\\+\\s*(?:${LITERAL}))*`;
const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?\*\//.source;
/** Other literals and comments are matched so that nothing inside them is taken for a title. */
const TITLE = new RegExp(
  [
    `(?:\\b(?:Deno\\.test|testOnBoth|caseOf)\\(|\\.step\\(|\\bname:)\\s*(${JOINED})`,
    `(${LITERAL})(?=:\\s*(?:async\\b|\\())`,
    LITERAL,
    COMMENT,
  ].join("|"),
  "g",
);
const CITATION = /\[([a-z0-9]+(?:-[a-z0-9]+)+(?:,\s*[a-z0-9]+(?:-[a-z0-9]+)+)*)\]$/;

/** Names given to `Deno.test(…)`, `testOnBoth(…)`, `caseOf(…)`, `t.step(…)`, `name: …` and `"…": (…) =>`, joined. */
export function testNames(text: string): string[] {
  const titles = Array.from(text.matchAll(TITLE), ([, joined, key]) => joined ?? key ?? "");
  return titles.filter((joined) => joined !== "").map((joined) =>
    Array.from(joined.matchAll(new RegExp(LITERAL, "g")), ([literal]) => literal.slice(1, -1)).join("")
  );
}

/** The ids in brackets at the end of a test's name. */
export function citedIds(name: string): string[] {
  return CITATION.exec(name)?.[1]?.split(/,\s*/) ?? [];
}

/** Which ids the sources cite, and where. A file of cases counts only when a test file leads to it. */
export function citations(sources: readonly TestSource[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { path, text } of runSources(sources)) {
    for (const id of testNames(text).flatMap(citedIds)) found.set(id, [...found.get(id) ?? [], path]);
  }
  return found;
}

/** The test files, and what they name, in turn: imported, or run in another process. */
function runSources(all: readonly TestSource[]): TestSource[] {
  const run = all.filter(({ path }) => path.endsWith("_test.ts"));
  for (const { text } of run) {
    run.push(...all.filter((source) => !run.includes(source) && text.includes(`/${fileName(source)}"`)));
  }
  return run;
}

function fileName({ path }: TestSource): string {
  return path.split("/").pop() ?? "";
}

/** Rows of the built capabilities that no test cites and that give no reason for it. */
export function uncovered(
  rows: readonly Requirement[],
  cited: ReadonlyMap<string, unknown>,
  built: readonly Capability[],
): Requirement[] {
  return rows.filter((row) => built.includes(row.by) && row.untested === undefined && !cited.has(row.id));
}

/** Every breach as a sentence; none when rows and tests agree. */
export function breaches(
  rows: readonly Requirement[],
  sources: readonly TestSource[],
  built: readonly Capability[],
): string[] {
  const ids = rows.map((row) => row.id);
  const cited = citations(sources);
  return [
    ...ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `the id "${id}" stands twice`),
    ...[...cited].filter(([id]) => !ids.includes(id))
      .map(([id, paths]) => `${paths.join(", ")} cites "${id}": no row has this id`),
    ...rows.filter((row) => row.untested !== undefined && cited.has(row.id))
      .map((row) => `"${row.id}" is called untested, and a test cites it: take the reason away`),
    ...uncovered(rows, cited, built).map((row) => `"${row.id}" has no test (${row.source}): ${row.text}`),
  ];
}
