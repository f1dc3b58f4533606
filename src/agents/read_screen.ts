/** What every reader of screens shares: the cap, the tail, the marks of dialogs, and the look of editors. */
import { lastRow } from "./composer.ts";
import type { DialogMarks, Screen } from "./profile.ts";

/** A dialog, a status line and a composer stand in this many last lines that are not blank. */
export const TAIL_LINES = 24;
/** A larger screen is not read: no window is larger, and reading one takes the listener's time. */
export const MAX_SCREEN_ROWS = 300;
export const MAX_SCREEN_COLUMNS = 600;

export function isOversized({ lines }: Screen): boolean {
  return lines.length > MAX_SCREEN_ROWS || lines.some((line) => line.length > MAX_SCREEN_COLUMNS);
}

/** The last lines of the screen, trailing blank ones left out. */
export function tailOf(lines: readonly string[]): string[] {
  const last = lastRow(lines);
  return lines.slice(Math.max(0, last + 1 - TAIL_LINES), last + 1);
}

/** The marks of one profile as JavaScript matches them. */
export interface CompiledMarks {
  inLines(lines: readonly string[]): boolean;
  inTitle(title: string): boolean;
  /** The most pessimistic of tail and title wins. */
  onScreen(screen: Screen): boolean;
}

export function compiledMarks(marks: DialogMarks): CompiledMarks {
  const patterns = marks.lines.map((source) => new RegExp(source));
  const globs = marks.titles.map(globPattern);
  const inLines = (lines: readonly string[]): boolean =>
    lines.some((line) => patterns.some((pattern) => pattern.test(line)));
  const inTitle = (title: string): boolean => globs.some((glob) => glob.test(title));
  return { inLines, inTitle, onScreen: ({ lines, title }) => inLines(tailOf(lines)) || inTitle(title) };
}

/** The last row of vi, less and nano, each with what may stand there. */
const EDITOR_ROWS = [
  /^"[^"]*" (?:\[[A-Za-z ]+\] ?)*\d+(?:L|,? lines?),? \d+(?:B|C| bytes)/,
  /^<[^"]*" (?:\[[A-Za-z ]+\] ?)*\d+L, \d+[BC]/,
  /^-- (?:INSERT|REPLACE|VISUAL|VISUAL LINE|VISUAL BLOCK)\b/,
  / \d+,\d+(?:-\d+)? {2,}(?:All|Top|Bot|\d+%)$/,
  /^\s*\d+,\d+(?:-\d+)? {2,}(?:All|Top|Bot|\d+%)$/,
  /^E\d+: /,
  /^:/,
  /^\(END\)$/,
  /^\^X (?:Exit|Help)/,
];

/** An editor or a pager has the whole screen: what it shows above its own last row is the text of a file. */
export function showsEditor({ lines, applicationKeys }: Screen): boolean {
  if (applicationKeys) return true;
  const row = lastRow(lines);
  const line = lines[row]?.trimEnd() ?? "";
  return EDITOR_ROWS.some((pattern) => pattern.test(line)) || (row > 0 && line === "~");
}

/** `*` and `?` of fnmatch; `[` stands for itself, as the profiles' titles need it. */
function globPattern(glob: string): RegExp {
  const source = glob.replace(/[.+^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*").replaceAll("?", ".");
  return new RegExp(`^${source}$`, "s");
}
