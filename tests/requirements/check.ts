/** Reads the names of tests from their source and compares the ids that they cite with the requirements. */
import type { Capability, Requirement } from "./row.ts";

/** A file of the checkout, a test's source or a document, with its path in the checkout. */
export interface TextFile {
  path: string;
  text: string;
}

const LITERAL = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/.source;
const JOINED = `(?:${LITERAL})(?:\\s*\\+\\s*(?:${LITERAL}))*`;
const REGEX =
  /(?<=[(,=:[!&|?{};\n]\s*|return\s)\/(?![*\/])(?:[^\/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/.source;
const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?\*\//.source;
/** Also matches other literals and comments, so that nothing inside them is mistaken for a title. */
const TITLE = new RegExp(
  [
    `(?:\\b(?:Deno\\.test|testOnBoth|caseOf)\\(|\\.step\\(|\\bname:)\\s*(${JOINED})`,
    `(${LITERAL})(?=:\\s*(?:async\\b|\\())`,
    LITERAL,
    COMMENT,
    REGEX,
  ].join("|"),
  "g",
);
const CITATION = /\[([a-z0-9]+(?:-[a-z0-9]+)+(?:,\s*[a-z0-9]+(?:-[a-z0-9]+)+)*)\]$/;

/**
 * Returns the names given to `Deno.test(…)`, `testOnBoth(…)`, `caseOf(…)`, `t.step(…)`, `name: …` and `"…": (…) =>`,
 * joined.
 */
export function testNames(text: string): string[] {
  const titles = Array.from(text.matchAll(TITLE), ([, joined, key]) => joined ?? key ?? "");
  return titles.filter((joined) => joined !== "").map((joined) =>
    Array.from(joined.matchAll(new RegExp(LITERAL, "g")), ([literal]) => literal.slice(1, -1)).join("")
  );
}

/** Returns the ids in brackets at the end of a test's name. */
export function citedIds(name: string): string[] {
  return CITATION.exec(name)?.[1]?.split(/,\s*/) ?? [];
}

/**
 * Returns the ids that the sources cite, with the citing paths. A file of cases counts only if a test file leads to it.
 */
export function citations(sources: readonly TextFile[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { path, text } of runSources(sources)) {
    for (const id of testNames(text).flatMap(citedIds)) found.set(id, [...found.get(id) ?? [], path]);
  }
  return found;
}

/** Returns the test files and, transitively, the files that they import or run in another process. */
function runSources(all: readonly TextFile[]): TextFile[] {
  const run = all.filter(({ path }) => path.endsWith("_test.ts"));
  for (const { text } of run) {
    run.push(...all.filter((source) => !run.includes(source) && text.includes(`/${fileName(source)}"`)));
  }
  return run;
}

function fileName({ path }: TextFile): string {
  return path.split("/").pop() ?? "";
}

/** Returns the rows of built capabilities that no test cites and that give no reason for it. */
export function uncovered(
  rows: readonly Requirement[],
  cited: ReadonlyMap<string, unknown>,
  built: readonly Capability[],
): Requirement[] {
  return rows.filter((row) => built.includes(row.by) && row.untested === undefined && !cited.has(row.id));
}

/** Returns one sentence for each mismatch; empty if rows and tests agree. */
export function breaches(
  rows: readonly Requirement[],
  sources: readonly TextFile[],
  built: readonly Capability[],
): string[] {
  const ids = rows.map((row) => row.id);
  const cited = citations(sources);
  return [
    ...ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `the id "${id}" occurs twice`),
    ...[...cited].filter(([id]) => !ids.includes(id))
      .map(([id, paths]) => `${paths.join(", ")} cites "${id}": no row has this id`),
    ...rows.filter((row) => row.untested !== undefined && cited.has(row.id))
      .map((row) => `"${row.id}" is marked untested, but a test cites it: remove the reason`),
    ...uncovered(rows, cited, built).map((row) => `"${row.id}" has no test (${row.source}): ${row.text}`),
  ];
}

const HEADING = /^#{1,6} +(.+?) *$/gm;

/** Returns the headings of a Markdown document, without the `#` signs. */
function headings(text: string): string[] {
  return Array.from(text.replace(/^```[\s\S]*?^```/gm, "").matchAll(HEADING), ([, heading = ""]) => heading);
}

/** Returns one sentence for each source that is not `path, Heading` with a heading of that document. */
export function unknownSources(rows: readonly Requirement[], documents: readonly TextFile[]): string[] {
  const known = new Set(documents.flatMap(({ path, text }) => headings(text).map((it) => `${path}, ${it}`)));
  const sources = [...new Set(rows.map((row) => row.source))];
  return sources.filter((source) => !known.has(source))
    .map((source) => `the source "${source}" names no heading: write "docs/page.md, Heading"`);
}
