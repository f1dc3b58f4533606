/** What the commands print: words in colour on a terminal only, JSON for scripts. */
import { runtime } from "#runtime";

/** Control characters but TAB and LF; the first group is what paint() writes, and stays. */
const CONTROLS = /(\x1b\[\d{1,2}m)|[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/** What turns text around or is not seen: marks of direction, joiners, spaces without width, tags, line separators. */
const UNSEEN =
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u{1d173}-\u{1d17a}]|[\u{e0000}-\u{e007f}]/gu;

/** One UTF-16 unit after the other, so that it is JSON too. */
const escaped = (text: string): string =>
  Array.from({ length: text.length }, (_, index) => unitEscape(text.charCodeAt(index))).join("");
const unitEscape = (unit: number): string => `\\u${unit.toString(16).padStart(4, "0")}`;

/** Titles, names and reasons come from other machines: what they say must not work this terminal, nor hide on it. */
export function harmless(text: string): string {
  return text.replace(CONTROLS, (_control, colour?: string) => colour ?? "\ufffd").replace(UNSEEN, escaped);
}

export function print(line: string): void {
  runtime.terminal.write(`${harmless(line)}\n`);
}

export function printError(line: string): void {
  runtime.terminal.writeError(`svc: ${harmless(line)}\n`);
}

/** JSON leaves DEL, C1 and what is not seen as they are: they are escaped, so that nothing is lost. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(/[\x7f-\x9f]/g, escaped).replace(UNSEEN, escaped);
}

export function printJson(value: unknown): void {
  print(jsonText(value));
}

const CODES = { red: 31, green: 32, yellow: 33, dim: 2, bold: 1 } as const;
export type Colour = keyof typeof CODES;

/** The text in colour (ECMA-48 SGR): never with `NO_COLOR`, and only on a terminal. */
export function paint(text: string, colour: Colour): string {
  const isPlain = Boolean(runtime.env.get("NO_COLOR")) || !runtime.terminal.isOutputTerminal();
  return isPlain ? text : `\x1b[${CODES[colour]}m${text}\x1b[0m`;
}

/** Rows as columns, each as wide as its widest cell; the last one is not padded. A cell is one line, whatever it holds. */
export function columns(cells: readonly (readonly string[])[]): string[] {
  const rows = cells.map((row) => row.map((cell) => harmless(cell.replace(/[\n\t]/g, "\ufffd"))));
  const widths = rows.reduce<number[]>(
    (all, row) => row.map((cell, index) => Math.max(all[index] ?? 0, cell.length)),
    [],
  );
  return rows.map((row) =>
    row.map((cell, index) => index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0)).join("  ")
  );
}
