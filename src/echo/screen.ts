/** What the echo agent shows: lines that scroll away above a footer that is redrawn in place. */
import { columnsOf } from "../async/columns.ts";
import { type EchoState, HELP } from "./state.ts";

/** The lines at the bottom. The cursor is at the end of line `cursorLine`. */
export interface Footer {
  lines: string[];
  cursorLine: number;
}

interface Receipt {
  prompt: string;
  bytes: number;
  /** The whole digest, in hex. */
  sha256: string;
  fromPhone: boolean;
}

const DIGEST_SHOWN_CHARS = 12;
const QUEUE_SHOWN = 3;
const PERMISSION_QUESTION = 'Allow the command "rm -rf build"?';

/** Removes the C0 and C1 control characters that a terminal would obey; LF and TAB stay. */
export function displayable(text: string): string {
  return text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "");
}

export function banner(version: string, directory: string): string[] {
  return [`svc echo agent ${version}`, `${displayable(directory)}`, HELP, ""];
}

export function receiptLines({ prompt, bytes, sha256, fromPhone }: Receipt): string[] {
  const origin = fromPhone ? " (from the phone)" : "";
  return [
    ...displayable(prompt).split("\n").map((line) => `│ ${line}`),
    `└ ${bytes} bytes · sha256 ${sha256.slice(0, DIGEST_SHOWN_CHARS)}${origin}`,
    "",
  ];
}

export function footer(state: EchoState, columns: number): Footer {
  // One column stays free: a line as wide as the terminal could wrap.
  const width = Math.max(columns - 1, 1);
  return state.dialog ? dialogFooter(state.dialog.row, width) : lineFooter(state, width);
}

function dialogFooter(row: 0 | 1, width: number): Footer {
  const rows = ["1. Yes", "2. No"].map((text, index) => `${index === row ? "❯" : " "} ${text}`);
  const lines = [PERMISSION_QUESTION, ...rows, "Enter to confirm · Esc to cancel"];
  return { lines: lines.map((line) => fit(line, width)), cursorLine: 1 + row };
}

function lineFooter(state: EchoState, width: number): Footer {
  const shown = state.queue.slice(0, QUEUE_SHOWN).map((prompt) => `  ↳ ${compact(prompt)}`);
  const more = state.queue.length - shown.length;
  const queue = more > 0 ? [...shown, `  ↳ … ${more} more`] : shown;
  const lines = [...queue, `❯ ${compact(state.draft)}`, statusLine(state)];
  return { lines: lines.map((line) => fit(line, width)), cursorLine: queue.length };
}

/** A text shortened to one line. */
function compact(text: string): string {
  const [first = "", ...rest] = displayable(text).replaceAll("\t", "    ").split("\n");
  return rest.length === 0 ? first : `${first} ⏎ … [${rest.length + 1} lines]`;
}

function statusLine({ isWorking, queue, isQuitting }: EchoState): string {
  const waiting = queue.length > 0 ? ` · ${queue.length} queued` : "";
  const quitting = isQuitting ? " · ctrl-c again to quit" : "";
  return `echo · ${isWorking ? "working (esc to interrupt)" : "idle"}${waiting}${quitting}`;
}

interface Output {
  write(text: string): void;
  size(): { columns: number; rows: number };
}

const BRACKETED_PASTE_ON = "\x1b[?2004h";
const BRACKETED_PASTE_OFF = "\x1b[?2004l";
const HOME = "\x1b[H";
const ERASE_BELOW = "\x1b[J";
/** At most this many lines are redrawn after a resize. */
const LINES_KEPT = 500;

export class EchoScreen {
  #output: Output;
  /** The last lines above the footer. */
  #lines: string[] = [];
  /** The footer's row with the cursor. */
  #cursorLine = 0;

  constructor(output: Output) {
    this.#output = output;
  }

  open(title: string): void {
    this.#output.write(`${BRACKETED_PASTE_ON}\x1b]2;${title}\x07`);
  }

  /** Adds `lines` above the footer and redraws it, in one write. */
  draw(lines: readonly string[], footer: Footer): void {
    this.#lines = [...this.#lines, ...lines].slice(-LINES_KEPT);
    this.#output.write(`${this.#erase()}${drawing(lines, footer)}`);
    this.#cursorLine = footer.cursorLine;
  }

  /** Redraws the whole screen after a resize: the terminal has rewrapped its lines to unknown positions. */
  redraw(footer: Footer): void {
    const lines = this.#lines.slice(this.#firstFitting(footer));
    this.#output.write(`${HOME}${ERASE_BELOW}${drawing(lines, footer)}`);
    this.#cursorLine = footer.cursorLine;
  }

  /** Removes the footer; the lines stay. */
  close(): void {
    this.#output.write(`${this.#erase()}${BRACKETED_PASTE_OFF}`);
    this.#cursorLine = 0;
  }

  #erase(): string {
    return `${this.#cursorLine > 0 ? `\x1b[${this.#cursorLine}A` : ""}\r${ERASE_BELOW}`;
  }

  /** The first of the last lines that fit above the footer. */
  #firstFitting(footer: Footer): number {
    const { columns, rows } = this.#output.size();
    let free = rows - footer.lines.length;
    return 1 + this.#lines.findLastIndex((line) => {
      free -= Math.max(1, Math.ceil(textWidth(line) / columns));
      return free < 0;
    });
  }
}

/** Writes the cursor's line last, so that the cursor ends up at the end of its text. */
function drawing(above: readonly string[], { lines, cursorLine }: Footer): string {
  const below = lines.length - 1 - cursorLine;
  const text = [...above, ...lines].join("\r\n");
  return `${text}${below > 0 ? `\x1b[${below}A` : ""}\r${lines[cursorLine] ?? ""}`;
}

/** A tab takes up to this many. */
const TAB_COLUMNS = 8;

function characterWidth(character: string): number {
  if (character >= " " && character <= "~") return 1;
  if (character === "\t") return TAB_COLUMNS;
  return columnsOf(character);
}

/** Columns of a terminal that `text` takes (UAX #11; the parts of a joined emoji count separately). */
export function textWidth(text: string): number {
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

/** `text` cut to `columns` columns, with an ellipsis if something was cut. */
export function fit(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let width = 0;
  let kept = "";
  for (const character of text) {
    width += characterWidth(character);
    if (width > columns - 1) break;
    kept += character;
  }
  return `${kept}…`;
}
