/** The commands' output: text, in color on a terminal only, JSON, tables, durations; and errors with an exit code. */
import { runtime } from "#runtime";

/** Control characters except TAB and LF; the first group is paint()'s, which is kept: other codes hide text. */
const CONTROLS = /(\x1b\[(?:[012]|3[123])m)|[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/**
 * Characters that reverse text or are invisible: direction marks, joiners, zero-width spaces, tags, line separators, and
 * variation selectors, except the one after an emoji.
 */
const INVISIBLE =
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb]|(?<!\p{Extended_Pictographic}|[#*0-9](?=\ufe0f\u20e3))\ufe0f|[\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

/** Escapes each UTF-16 unit, so that the result is valid JSON too. */
const escaped = (text: string): string =>
  Array.from({ length: text.length }, (_, index) => unitEscape(text.charCodeAt(index))).join("");
const unitEscape = (unit: number): string => `\\u${unit.toString(16).padStart(4, "0")}`;

/** Titles, names and reasons come from other machines: they must neither control this terminal nor hide text on it. */
export function sanitize(text: string): string {
  return text.replace(CONTROLS, (_control, color?: string) => color ?? "\ufffd").replace(
    INVISIBLE,
    escaped,
  );
}

/** Makes a name from another machine safe within a line: it cannot add another line. */
export function inLine(text: string): string {
  return text.replace(/[\x00-\x1f\x7f-\x9f]/g, "\ufffd");
}

export function print(line: string): void {
  runtime.terminal.write(`${sanitize(line)}\n`);
}

export function printError(line: string): void {
  runtime.terminal.writeError(`svc: ${sanitize(line)}\n`);
}

/** The value as JSON, with DEL, C1 and invisible characters escaped, so that nothing is lost when it is printed. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(/[\x7f-\x9f]/g, escaped).replace(INVISIBLE, escaped);
}

export function printJson(value: unknown): void {
  print(jsonText(value));
}

const CODES = { red: 31, green: 32, yellow: 33, dim: 2, bold: 1 } as const;
export type Color = keyof typeof CODES;

/** The text in color (ECMA-48 SGR): never with `NO_COLOR` or `TERM=dumb`, and only on a terminal. */
export function paint(text: string, color: Color): string {
  const { env, terminal } = runtime;
  const isPlain = Boolean(env.get("NO_COLOR")) || env.get("TERM") === "dumb" || !terminal.isOutputTerminal();
  return isPlain ? text : `\x1b[${CODES[color]}m${text}\x1b[0m`;
}

/** Rows as columns, each as wide as its widest cell; the last one is not padded. A cell always takes one line. */
export function columns(cells: readonly (readonly string[])[]): string[] {
  const rows = cells.map((row) => row.map((cell) => sanitize(inLine(cell))));
  const widths = rows.reduce<number[]>(
    (all, row) => row.map((cell, index) => Math.max(all[index] ?? 0, cell.length)),
    [],
  );
  return rows.map((row) =>
    row.map((cell, index) => index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0)).join("  ")
  );
}

const UNITS: readonly [ms: number, name: string][] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
];

/** The duration in the largest unit that fits at least once: `3 min`, `2 d`; `0 s` for less than a second. */
export function duration(ms: number): string {
  const [unit, name] = UNITS.find(([size]) => ms >= size) ?? [1_000, "s"];
  return `${Math.max(0, Math.floor(ms / unit))} ${name}`;
}

export const EXIT_FAILED = 1;
/** The command was used wrongly. */
export const EXIT_USAGE = 2;

/** Ends a command that has already printed its message. Caught by `main`. */
export class CommandExit extends Error {
  override name = "CommandExit";
  readonly code: number;

  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code;
  }
}

/** Wrong usage: `message` says what would be accepted. Caught by `main`, which exits with 2. */
export class UsageError extends Error {
  override name = "UsageError";
}
