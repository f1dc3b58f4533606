/** Finds runs of lines that occur twice in the sources: with the same text, or in the same shape under other names. */
import type { SourceFile } from "../helpers/sources.ts";

/** Shorter runs are not reported. */
const RUN_LINES = 6;
/** A run with fewer different shapes is a list of data. */
const LEAST_SHAPES = 4;

export interface Duplicate {
  first: string;
  second: string;
  lines: number;
}

interface CodeLine {
  path: string;
  /** 1-based. */
  line: number;
  /** The text without surrounding blanks. */
  text: string;
  /** The text with each name, string and number replaced by one sign. */
  shape: string;
}

const KEYWORDS = new Set(
  ("as async await break case catch class const continue default delete do else export extends false finally for " +
    "from function if implements import in instanceof interface let new null of readonly return satisfies static " +
    "super switch this throw true try type typeof undefined void while yield using private public get set")
    .split(" "),
);
const NAME = /[A-Za-z_$#][\w$]*/g;
const STRING = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`/g;

/**
 * True for lines that mean nothing on their own: blanks, comments, lone brackets, and entries with only a name or a
 * value.
 */
function isNoise(code: string): boolean {
  return /^(\/\/|\/?\*)/.test(code) || /^[\])}>;,({[]*$/.test(code) ||
    /^(import|export) .*from "/.test(code) ||
    /^(readonly )?[\w$"-]+\??(: ?("[^"]*"|[\w.$]+(\[\])?))?[,;]$/.test(code) ||
    /^\|? ?"[^"]*"[,;]?$/.test(code);
}

function codeLines({ path, text }: SourceFile): CodeLine[] {
  let isImport = false;
  return text.split("\n").flatMap((line, index) => {
    const code = line.trim();
    if (/^(import|export) (type )?\{[^}]*$/.test(code)) isImport = true;
    const skipped = isImport || isNoise(code);
    if (isImport && /\} from "/.test(code)) isImport = false;
    if (skipped) return [];
    const shape = code.replace(STRING, "0").replace(/\b\d[\d_]*\b/g, "0")
      .replace(NAME, (word) => (KEYWORDS.has(word) ? word : "x"));
    return [{ path, line: index + 1, text: code, shape }];
  });
}

/** Numbers names by their first use, so that two runs that differ only by a renaming become equal. */
function renamed(run: readonly CodeLine[]): string {
  const numbers = new Map<string, number>();
  const number = (word: string): string => {
    if (KEYWORDS.has(word)) return word;
    if (!numbers.has(word)) numbers.set(word, numbers.size);
    return `x${numbers.get(word)}`;
  };
  return run.map(({ text }) => text.replace(STRING, "0").replace(NAME, number)).join("\n");
}

/** Returns every run of at least six lines that occurs in two places, each at its greatest length. */
export function duplicates(files: readonly SourceFile[]): Duplicate[] {
  const lines = files.flatMap((file) => codeLines(file));
  const places = new Map<string, number[]>();
  const found: Duplicate[] = [];
  /** Pairs of lines that belong to a reported run. */
  const reported = new Set<string>();
  for (let at = 0; at + RUN_LINES <= lines.length; at++) {
    const run = lines.slice(at, at + RUN_LINES);
    const isOneFile = run.every(({ path }) => path === run[0]?.path);
    if (!isOneFile || new Set(run.map(({ shape }) => shape)).size < LEAST_SHAPES) continue;
    const key = renamed(run);
    const earlier = places.get(key) ?? [];
    for (const other of earlier) {
      const overlaps = lines[other]?.path === run[0]?.path && at - other < RUN_LINES;
      if (overlaps || reported.has(`${other} ${at}`)) continue;
      const length = sharedLength(lines, { first: other, second: at });
      for (let index = 0; index < length; index++) reported.add(`${other + index} ${at + index}`);
      found.push({ first: placeOf(lines[other]), second: placeOf(lines[at]), lines: length });
    }
    places.set(key, [...earlier, at]);
  }
  return found;
}

const placeOf = (line: CodeLine | undefined): string => `${line?.path}:${line?.line}`;

function sharedLength(
  lines: readonly CodeLine[],
  { first, second }: { first: number; second: number },
): number {
  let length = RUN_LINES;
  const ends = (): boolean =>
    lines[first + length]?.path !== lines[first]?.path ||
    lines[second + length]?.path !== lines[second]?.path ||
    lines[first + length]?.shape !== lines[second + length]?.shape;
  while (!ends()) length++;
  return length;
}
