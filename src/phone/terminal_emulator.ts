/** The terminal behind a mirror: xterm without its view, read as runs of cells to draw, or as plain text to copy. */
import * as unicode from "@xterm/addon-unicode11";
import * as headless from "@xterm/headless";

/** Lines kept above the screen. */
const SCROLLBACK_LINES = 5_000;

/** Both packages are CommonJS: their names are on the default export, although their types do not say so. */
const { Terminal } = unwrapped(headless);
const { Unicode11Addon } = unwrapped(unicode);

export type Emulator = headless.Terminal;
export type EmulatorCell = headless.IBufferCell;
type EmulatorLine = headless.IBufferLine;

/**
 * Unicode 11 is close enough to tmux's character widths. Queries in the output get no answer: nothing reads the
 * replies.
 */
export function makeEmulator({ cols, rows }: { cols: number; rows: number }): Emulator {
  const terminal = new Terminal({ cols, rows, allowProposedApi: true, scrollback: SCROLLBACK_LINES });
  terminal.loadAddon(new Unicode11Addon());
  terminal.unicode.activeVersion = "11";
  return terminal;
}

function unwrapped<T extends object>(names: T): T {
  return (names as { default?: T }).default ?? names;
}

type Buffer = Emulator["buffer"]["active"];

/** How many columns of a line the next one continues; undefined if none does. */
export function wrappedColumns(active: Buffer, y: number): number | undefined {
  const [line, next] = [active.getLine(y), active.getLine(y + 1)];
  if (line === undefined || next?.isWrapped !== true) return undefined;
  // A wide character did not fit into the last column, which stayed empty.
  const isShort = next.getCell(0)?.getWidth() === 2 && line.getCell(line.length - 1)?.getChars() === "" &&
    line.getCell(line.length - 1)?.getWidth() === 1;
  return isShort ? line.length - 1 : line.length;
}

/** The rows of a line from `y` on: several if it is wrapped. Only the last has its trailing blanks removed. */
function rowsFrom(active: Buffer, y: number): string[] {
  const rows: string[] = [];
  for (let columns: number | undefined = 0; columns !== undefined; y++) {
    columns = wrappedColumns(active, y);
    rows.push(active.getLine(y)?.translateToString(columns === undefined, 0, columns) ?? "");
  }
  return rows;
}

/** All lines as text, with wrapped lines joined and trailing blanks removed. */
export function plainText({ buffer: { active } }: Pick<Emulator, "buffer">): string {
  let text = "";
  for (let y = 0; y < active.length;) {
    const rows = rowsFrom(active, y);
    text += `${rows.join("").trimEnd()}\n`;
    y += rows.length;
  }
  return text.trimEnd();
}

/** A CSS color; undefined for the terminal's default. */
type Color = string | undefined;

interface CellStyle {
  foreground: Color;
  background: Color;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  strike: boolean;
  overline: boolean;
  hidden: boolean;
}

export interface Run {
  text: string;
  /** Its width in columns. */
  columns: number;
  /** Fonts may draw these characters wider or narrower: the page forces them to their columns. */
  uneven: boolean;
  style: CellStyle;
  cursor: boolean;
}

const BASIC = [
  ...["#2e3436", "#e05561", "#7fc06e", "#d8b25a", "#5c9ee6", "#b98ae0", "#4fb8c4", "#d3d7cf"],
  ...["#7c8684", "#f2777f", "#9ade86", "#f2cf7b", "#82b8f5", "#d0a8f2", "#73d6e0", "#f4f6f3"],
];
/** Levels of the 6 × 6 × 6 color cube. */
const CUBE = [0, 95, 135, 175, 215, 255];
const [INVERSE_FOREGROUND, INVERSE_BACKGROUND] = ["var(--terminal-ground)", "var(--terminal-text)"];
const EVEN = /^[\u0020-\u007e]*$/;

/** The runs of a line: adjacent cells that look alike. `cell` is reused for every read. */
export function runsOf(
  line: EmulatorLine,
  { columns, cursor, cell }: { columns: number; cursor: number | undefined; cell: EmulatorCell },
): Run[] {
  const runs: Run[] = [];
  for (let x = 0; x < columns; x++) {
    const read = line.getCell(x, cell);
    if (read === undefined || read.getWidth() === 0) continue;
    add(runs, runOf(read, x === cursor));
  }
  return runs;
}

function runOf(cell: EmulatorCell, cursor: boolean): Run {
  const text = cell.getChars() || " ";
  return { text, columns: cell.getWidth(), uneven: !EVEN.test(text), style: styleOf(cell), cursor };
}

/** Each uneven character is a separate run, except for repeats, such as in rules. */
function add(runs: Run[], run: Run): void {
  const last = runs.at(-1);
  const joins = last !== undefined && !run.cursor && !last.cursor && last.uneven === run.uneven &&
    (!run.uneven || last.text.endsWith(run.text)) && looksAlike(last.style, run.style);
  if (!joins) return void runs.push(run);
  last.text += run.text;
  last.columns += run.columns;
}

function looksAlike(one: CellStyle, other: CellStyle): boolean {
  return one.foreground === other.foreground && one.background === other.background &&
    one.bold === other.bold && one.dim === other.dim && one.italic === other.italic &&
    one.underline === other.underline && one.strike === other.strike && one.overline === other.overline &&
    one.hidden === other.hidden;
}

function styleOf(cell: EmulatorCell): CellStyle {
  const isBold = cell.isBold() !== 0;
  const [front, back] = [foregroundOf(cell, isBold), backgroundOf(cell)];
  const isInverse = cell.isInverse() !== 0;
  return {
    foreground: isInverse ? back ?? INVERSE_FOREGROUND : front,
    background: isInverse ? front ?? INVERSE_BACKGROUND : back,
    bold: isBold,
    dim: cell.isDim() !== 0,
    italic: cell.isItalic() !== 0,
    underline: cell.isUnderline() !== 0,
    strike: cell.isStrikethrough() !== 0,
    overline: cell.isOverline() !== 0,
    hidden: cell.isInvisible() !== 0,
  };
}

/** Bold text in one of the eight basic colors is drawn bright, as terminals do. */
function foregroundOf(cell: EmulatorCell, isBold: boolean): Color {
  if (cell.isFgDefault()) return undefined;
  const color = cell.getFgColor();
  if (cell.isFgRGB()) return rgb(color);
  return indexed(isBold && color < 8 ? color + 8 : color);
}

function backgroundOf(cell: EmulatorCell): Color {
  if (cell.isBgDefault()) return undefined;
  return cell.isBgRGB() ? rgb(cell.getBgColor()) : indexed(cell.getBgColor());
}

function rgb(color: number): string {
  return `#${color.toString(16).padStart(6, "0")}`;
}

/** The CSS color for an index of the 256-color palette. */
export function indexed(index: number): string {
  if (index < 16) return BASIC[index] ?? "";
  if (index >= 232) {
    const gray = 8 + (index - 232) * 10;
    return rgb(gray << 16 | gray << 8 | gray);
  }
  const at = (divisor: number): number => CUBE[Math.floor((index - 16) / divisor) % 6] ?? 0;
  return rgb(at(36) << 16 | at(6) << 8 | at(1));
}

/** Returns a run as an element. Sets styles through the DOM, which the page's content security policy allows. */
export function elementOf({ text, columns, uneven, style: cellStyle, cursor }: Run): HTMLElement {
  const element = document.createElement("span");
  element.textContent = text;
  const { style, classList } = element;
  if (cellStyle.foreground !== undefined) style.color = cellStyle.foreground;
  if (cellStyle.background !== undefined) style.backgroundColor = cellStyle.background;
  const lines = [
    cellStyle.underline && "underline",
    cellStyle.overline && "overline",
    cellStyle.strike && "line-through",
  ];
  const decoration = lines.filter((line) => line !== false).join(" ");
  if (decoration !== "") style.textDecoration = decoration;
  if (cellStyle.bold) classList.add("bold");
  if (cellStyle.dim) classList.add("dim");
  if (cellStyle.italic) classList.add("italic");
  if (cellStyle.hidden) classList.add("hidden");
  if (cursor) classList.add("cursor");
  if (uneven) {
    classList.add("uneven");
    style.width = `${columns}ch`;
  }
  return element;
}

/** The numbers of the rows in which the text begins, ignoring case. It may go on in the next row of a wrapped line. */
export function linesWith({ buffer: { active } }: Pick<Emulator, "buffer">, text: string): number[] {
  const wanted = text.toLowerCase();
  const found: number[] = [];
  for (let y = 0; wanted !== "" && y < active.length;) {
    const rows = rowsFrom(active, y).map((row) => row.toLowerCase());
    const line = rows.join("");
    let [at, end] = [line.indexOf(wanted), 0];
    for (const [index, row] of rows.entries()) {
      end += row.length;
      if (at < 0 || at >= end) continue;
      found.push(y + index);
      at = line.indexOf(wanted, end);
    }
    y += rows.length;
  }
  return found;
}

/** A line on the page. */
export interface DrawnRow {
  element: HTMLElement;
  /** What was drawn last. */
  drawn: string;
  /** The next line continues it; `short`: its last column was too narrow for the next character. */
  wrap: "none" | "whole" | "short";
}

/** The selected lines as the program printed them: wrapped ones joined, without trailing blanks. */
export function selectedText(rows: readonly DrawnRow[]): string {
  const range = document.getSelection()?.getRangeAt(0);
  const parts = rows.flatMap(({ element, wrap }) => {
    const part = range && selectedPart(range, element);
    if (part === undefined) return [];
    if (wrap === "none") return [`${part.text.trimEnd()}\n`];
    return [wrap === "short" && part.isToEnd ? part.text.slice(0, -1) : part.text];
  });
  return parts.join("").replace(/\n+$/, "");
}

/** The selected part of the element's text; undefined if nothing of it is selected. */
function selectedPart(selected: Range, element: Element): { text: string; isToEnd: boolean } | undefined {
  if (!selected.intersectsNode(element)) return undefined;
  const part = document.createRange();
  part.selectNodeContents(element);
  if (part.compareBoundaryPoints(Range.START_TO_START, selected) < 0) {
    part.setStart(selected.startContainer, selected.startOffset);
  }
  const before = part.toString().length;
  if (part.compareBoundaryPoints(Range.END_TO_END, selected) > 0) {
    part.setEnd(selected.endContainer, selected.endOffset);
  }
  const text = part.toString();
  return { text, isToEnd: text.length === before };
}
