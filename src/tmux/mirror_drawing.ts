/** What is known of how a program draws on: attributes, character sets, and whether another terminal draws it alike. */
import {
  fillsCells,
  isPlainCharacter,
  isPlainCsi,
  isPlainEscape,
  losesColumn,
  setsColumn,
} from "./mirror_plain.ts";
import { Pen } from "./mirror_pen.ts";

interface Settings {
  pen: Pen;
  /** Designations of G0 and G1, once they were seen. */
  charsets: ReadonlyMap<string, string>;
  /** The last shift, SO or SI. */
  shift: string;
  /** Whether letters stand for themselves or for line drawing is known. */
  letters: boolean;
}

const BACKSPACE = 0x08;
/** Where the set of line drawing has other characters than ASCII. */
const LINE_DRAWING = { first: 0x5f, last: 0x7e };
/** Modes in which text is drawn differently at the edges. */
const ODD_MODES: Readonly<Record<string, boolean>> = {
  "4h": true,
  "4l": false,
  "?6h": true,
  "?6l": false,
  "?7l": true,
  "?7h": false,
};

/** It may scroll, which fills a line with the background. */
const isLineEnd = (byte: number): boolean => byte >= 0x0a && byte <= 0x0c;

const unknown = (): Settings => ({
  pen: new Pen({ known: false }),
  charsets: new Map(),
  shift: "",
  letters: false,
});

/** `unsure`: drawing the screen over it helps; `lost`: only a terminal that begins anew is right again. */
export type Doubt = "none" | "unsure" | "lost";

export class Drawing {
  /** Something was drawn that may look different elsewhere, or that depends on what was not seen. */
  isUnsure = false;
  /** The terminal was reset, which does not leave the alternate screen in tmux, and does elsewhere. */
  #isLost = false;
  #set = unknown();
  /** Saved with the cursor, and with the normal screen while the alternate one is shown. */
  #saved = unknown();
  #ofScreen = unknown();
  #oddModes = new Map<string, boolean>();
  #isColumnLost = false;
  /** Letters were drawn while it was not known what they stand for. */
  #drewLetters = false;

  /** What is to be done about what was drawn since the last call. */
  takeDoubt(): Doubt {
    const doubt = this.#isLost ? "lost" : this.isUnsure ? "unsure" : "none";
    this.isUnsure = false;
    this.#isLost = false;
    return doubt;
  }

  forget(): void {
    this.isUnsure = false;
    this.#isLost = false;
    this.#set = unknown();
    this.#saved = unknown();
    this.#ofScreen = unknown();
    this.#oddModes.clear();
    this.#isColumnLost = false;
    this.#drewLetters = false;
  }

  /** tmux's screen after all that was drawn: where it has no line drawing, letters were letters. */
  sawScreen({ drawsLines }: { drawsLines: boolean }): void {
    if (this.#drewLetters && !drawsLines) this.#change({ letters: true });
    this.#drewLetters = false;
  }

  /** Text is drawn in a mode that was set before the output was seen. */
  startOddly(): void {
    this.#oddModes.set("before", true);
  }

  /** Sequences that bring a terminal with default attributes to what the program has set; empty when unknown. */
  sequences(): string {
    const { pen, charsets, shift } = this.#set;
    const designations = [...charsets].map(([set, charset]) => `\u001b${set}${charset}`).join("");
    return (pen.known ? pen.sgr() : "") + designations + shift;
  }

  /** A character of text, by its code point. */
  character(code: number): void {
    const { pen, letters } = this.#set;
    const isOpen = !letters && code >= LINE_DRAWING.first && code <= LINE_DRAWING.last;
    this.#drewLetters ||= isOpen;
    const isOdd = this.#isColumnLost || this.#oddModes.size > 0 || !pen.known || isOpen;
    this.isUnsure ||= isOdd || (code > 0x7e && !isPlainCharacter(code));
  }

  control(byte: number): void {
    if (byte === 0x0e || byte === 0x0f) this.#change({ shift: String.fromCharCode(byte), letters: true });
    if (byte === 0x0d) this.#isColumnLost = false;
    this.isUnsure ||= byte === BACKSPACE || (isLineEnd(byte) && !this.#set.pen.known);
  }

  /** `text` is what follows `CSI`, with its final. */
  csi(text: string): void {
    this.isUnsure ||= !isPlainCsi(text) || (fillsCells(text) && !this.#set.pen.known);
    if (losesColumn(text)) this.#isColumnLost = true;
    else if (setsColumn(text)) this.#isColumnLost = false;
    else if (/^[\d:;]*m$/.test(text)) this.#set.pen.apply(text.slice(0, -1));
    else if (text === "s" || text === "?1048h") this.#saved = this.#copy();
    else if (text === "u" || text === "?1048l") this.#draw(this.#saved);
    else if (text === "?1049h") this.#ofScreen = this.#copy();
    else if (text === "?1049l") this.#draw(this.#ofScreen);
    else this.#mode(text);
  }

  /** `text` is what follows ESC. */
  escape(text: string): void {
    this.isUnsure ||= !isPlainEscape(text) || (/^[DEM]$/.test(text) && !this.#set.pen.known);
    if (text === "7") this.#saved = this.#copy();
    else if (text === "8") this.#draw(this.#saved);
    else if (text === "c") this.#reset();
    else if (/^[()]./.test(text)) {
      const charsets = new Map([...this.#set.charsets, [text.charAt(0), text.charAt(1)]]);
      this.#change({ charsets, letters: this.#set.letters || text.startsWith("(") });
    }
  }

  /** The output pauses: a cursor in another column is seen. */
  paused(): void {
    this.isUnsure ||= this.#isColumnLost;
  }

  #mode(text: string): void {
    const isOdd = ODD_MODES[text];
    if (isOdd === undefined) return;
    this.#oddModes.delete("before");
    if (isOdd) this.#oddModes.set(text.slice(0, -1), true);
    else this.#oddModes.delete(text.slice(0, -1));
  }

  #reset(): void {
    this.forget();
    this.#isLost = true;
    this.#set.pen.reset();
    this.#change({ letters: true });
  }

  #copy(): Settings {
    return { ...this.#set, pen: this.#set.pen.copy() };
  }

  #draw(set: Settings): void {
    this.#set = { ...set, pen: set.pen.copy() };
  }

  #change(changes: Partial<Settings>): void {
    this.#set = { ...this.#set, ...changes };
  }
}
