/** Draws on a terminal's normal screen: lines that scroll away above a footer that is redrawn in place. */
import type { Footer } from "./view.ts";
import { textWidth } from "./width.ts";

export interface Output {
  write(text: string): void;
  size(): { columns: number; rows: number };
}

const BRACKETED_PASTE_ON = "\x1b[?2004h";
const BRACKETED_PASTE_OFF = "\x1b[?2004l";
const HOME = "\x1b[H";
const ERASE_BELOW = "\x1b[J";
/** So many lines are drawn again, at most, when the terminal has another size. */
const LINES_KEPT = 500;

export class EchoScreen {
  #output: Output;
  /** The last lines above the footer. */
  #lines: string[] = [];
  /** The footer's row in which the cursor stands. */
  #cursorLine = 0;

  constructor(output: Output) {
    this.#output = output;
  }

  open(title: string): void {
    this.#output.write(`${BRACKETED_PASTE_ON}\x1b]2;${title}\x07`);
  }

  /** Puts `lines` above the footer and draws it anew, in one write. */
  draw(lines: readonly string[], footer: Footer): void {
    this.#lines = [...this.#lines, ...lines].slice(-LINES_KEPT);
    this.#output.write(`${this.#erase()}${drawing(lines, footer)}`);
    this.#cursorLine = footer.cursorLine;
  }

  /** Draws the whole screen: the terminal has wrapped its lines anew, and nobody can tell where they are. */
  redraw(footer: Footer): void {
    const lines = this.#lines.slice(this.#firstFitting(footer));
    this.#output.write(`${HOME}${ERASE_BELOW}${drawing(lines, footer)}`);
    this.#cursorLine = footer.cursorLine;
  }

  /** Leaves the lines and takes the footer away. */
  close(): void {
    this.#output.write(`${this.#erase()}${BRACKETED_PASTE_OFF}`);
    this.#cursorLine = 0;
  }

  #erase(): string {
    return `${this.#cursorLine > 0 ? `\x1b[${this.#cursorLine}A` : ""}\r${ERASE_BELOW}`;
  }

  /** From which line on they fit above the footer. */
  #firstFitting(footer: Footer): number {
    const { columns, rows } = this.#output.size();
    let free = rows - footer.lines.length;
    return 1 + this.#lines.findLastIndex((line) => {
      free -= Math.max(1, Math.ceil(textWidth(line) / columns));
      return free < 0;
    });
  }
}

/** The cursor's line comes last, so that the terminal itself knows where its text ends. */
function drawing(above: readonly string[], { lines, cursorLine }: Footer): string {
  const below = lines.length - 1 - cursorLine;
  const text = [...above, ...lines].join("\r\n");
  return `${text}${below > 0 ? `\x1b[${below}A` : ""}\r${lines[cursorLine] ?? ""}`;
}
