/** What the commands print: words in colour on a terminal only, JSON for scripts. */
import { runtime } from "#runtime";

/** Control characters but TAB and LF; the first group is what paint() writes, and stays. */
const CONTROLS = /(\x1b\[\d{1,2}m)|[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/** Titles, names and reasons come from other machines: what they say must not work this terminal. */
export function harmless(text: string): string {
  return text.replace(CONTROLS, (_control, colour?: string) => colour ?? "\ufffd");
}

export function print(line: string): void {
  runtime.terminal.write(`${harmless(line)}\n`);
}

export function printError(line: string): void {
  runtime.terminal.writeError(`svc: ${harmless(line)}\n`);
}

/** JSON leaves DEL and C1 as they are: they are escaped, so that nothing is lost. */
export function jsonText(value: unknown): string {
  const escaped = (control: string): string => `\\u00${control.charCodeAt(0).toString(16)}`;
  return JSON.stringify(value, null, 2).replace(/[\x7f-\x9f]/g, escaped);
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
  const rows = cells.map((row) => row.map((cell) => cell.replace(/[\n\t]/g, "\ufffd")));
  const widths = rows.reduce<number[]>(
    (all, row) => row.map((cell, index) => Math.max(all[index] ?? 0, cell.length)),
    [],
  );
  return rows.map((row) =>
    row.map((cell, index) => index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0)).join("  ")
  );
}
