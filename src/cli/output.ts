/** What the commands print: words in colour on a terminal only, JSON for scripts. */
import { runtime } from "#runtime";

export function print(line: string): void {
  runtime.terminal.write(`${line}\n`);
}

export function printError(line: string): void {
  runtime.terminal.writeError(`svc: ${line}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

const CODES = { red: 31, green: 32, yellow: 33, dim: 2, bold: 1 } as const;
export type Colour = keyof typeof CODES;

/** The text in colour (ECMA-48 SGR): never with `NO_COLOR`, and only on a terminal. */
export function paint(text: string, colour: Colour): string {
  const isPlain = Boolean(runtime.env.get("NO_COLOR")) || !runtime.terminal.isOutputTerminal();
  return isPlain ? text : `\x1b[${CODES[colour]}m${text}\x1b[0m`;
}

/** Rows as columns, each as wide as its widest cell; the last one is not padded. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = rows.reduce<number[]>(
    (all, row) => row.map((cell, index) => Math.max(all[index] ?? 0, cell.length)),
    [],
  );
  return rows.map((row) =>
    row.map((cell, index) => index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0)).join("  ")
  );
}
