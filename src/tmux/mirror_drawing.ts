/** Tracks a program's drawing state (attributes, character sets) and whether another terminal draws its output the same. */

interface Settings {
  pen: Pen;
  /** Designations of G0 and G1, once seen. */
  charsets: ReadonlyMap<string, string>;
  /** The last shift, SO or SI. */
  shift: string;
  /** It is known whether letters are letters or line drawing. */
  letters: boolean;
}

const BACKSPACE = 0x08;
/** The range in which the line-drawing set differs from ASCII. */
const LINE_DRAWING = { first: 0x5f, last: 0x7e };
/** Modes in which terminals differ in drawing text at the edges, with the final that begins them. */
const ODD_MODES: Readonly<Record<string, "h" | "l">> = { "4": "h", "?6": "h", "?7": "l" };

/** May scroll, which fills a line with the background color. */
const isLineEnd = (byte: number): boolean => byte >= 0x0a && byte <= 0x0c;

const unknown = (): Settings => ({
  pen: new Pen({ known: false }),
  charsets: new Map(),
  shift: "",
  letters: false,
});

/** `unsure`: repainting the screen corrects it; `lost`: only a reset terminal is right again. */
export type Doubt = "none" | "unsure" | "lost";

export class Drawing {
  /** Something was drawn that may look different in another terminal, or that depends on output not seen. */
  isUnsure = false;
  /** The terminal was reset. tmux stays on the alternate screen then, other terminals leave it. */
  #isLost = false;
  #set = unknown();
  /** Saved with the cursor, and saved with the normal screen while the alternate one is shown. */
  #saved = unknown();
  #ofScreen = unknown();
  #oddModes = new Map<string, boolean>();
  #isColumnLost = false;
  /** Letters were drawn while it was unknown whether they are line drawing. */
  #drewLetters = false;

  /** How far the output since the last call is in doubt. */
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

  /** Takes tmux's screen after everything was drawn. If it shows no line drawing, the letters were letters. */
  sawScreen({ drawsLines }: { drawsLines: boolean }): void {
    if (this.#drewLetters && !drawsLines) this.#change({ letters: true });
    this.#drewLetters = false;
  }

  /** Text is drawn in an unusual mode that was set before the first output seen. */
  startOddly(): void {
    this.#oddModes.set("before", true);
  }

  /** Sequences that give a terminal with default attributes the program's current ones. Empty if unknown. */
  sequences(): string {
    const { pen, charsets, shift } = this.#set;
    const designations = [...charsets].map(([set, charset]) => `\u001b${set}${charset}`).join("");
    return (pen.known ? pen.sgr() : "") + designations + shift;
  }

  /** A character of text. */
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

  /** The output pauses, so a cursor in the wrong column would be visible. */
  paused(): void {
    this.isUnsure ||= this.#isColumnLost;
  }

  #mode(text: string): void {
    const [, prefix = "", modes = "", final] = /^(\??)([\d;]+)([hl])$/.exec(text) ?? [];
    for (const mode of modes.split(";").map((one) => prefix + Number(one))) {
      const odd = ODD_MODES[mode];
      if (odd === undefined) continue;
      this.#oddModes.delete("before");
      if (odd === final) this.#oddModes.set(mode, true);
      else this.#oddModes.delete(mode);
    }
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

/** Terminals differ in wide, joining and combining characters. */
const UNEVEN =
  /[\p{M}\p{Cf}\p{Emoji_Presentation}\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]/u;

/** Final bytes of CSI sequences for cursor, erasing, inserting, scrolling, attributes, tab stops, reports. */
const PLAIN_FINALS = "ABCDEFGHJKLMPSTXZ@`cdfgmnqrt";
/** Cursor keys, cursor style, mouse, focus, bracketed paste, synchronized output. */
const PLAIN_MODES = new Set([
  "1",
  "12",
  "25",
  "1000",
  "1002",
  "1003",
  "1004",
  "1005",
  "1006",
  "2004",
  "2026",
]);
/** Index, tab stop, reverse index, next line, save, keypad, the end of a string. */
const PLAIN_ESCAPES = "DHME7=>\\";

export function isPlainCharacter(code: number): boolean {
  return code < 0x10000 && !UNEVEN.test(String.fromCharCode(code));
}

/** `text` is what follows `CSI`, with its final. */
export function isPlainCsi(text: string): boolean {
  const final = text.slice(-1);
  const modes = /^\?([\d;]*)[hl]$/.exec(text)?.[1];
  if (modes !== undefined) return modes.split(";").every((mode) => PLAIN_MODES.has(mode));
  // Queries and key protocols draw nothing.
  if (/^[<=>?]/.test(text)) return final !== "J" && final !== "K";
  return PLAIN_FINALS.includes(final) && !/[!"#$'*]/.test(text);
}

/** Sequences with a count that terminals execute one by one: lines inserted, deleted or scrolled, tabs, repeats. */
const COUNTED = /^(\d+)([\d;:]*[LMSTbZ])$/;

/** Limits the count in what follows `CSI` to `max`. */
export function boundCount(text: string, max: number): string {
  const [, count = "", rest = ""] = COUNTED.exec(text) ?? [];
  return Number(count) > max ? `${max}${rest}` : text;
}

/** `text` is what follows ESC. All terminals designate character sets the same way. */
export function isPlainEscape(text: string): boolean {
  return text.length === 1 ? PLAIN_ESCAPES.includes(text) : /^[()][0B]$/.test(text);
}

/** Erasing, inserting, deleting and scrolling fill cells with the current background. */
export function fillsCells(text: string): boolean {
  return /^[\d;]*[@JKLMPSTX]$/.test(text);
}

/** Inserting or deleting lines moves the cursor to the first column in other terminals, but not in tmux. */
export function losesColumn(text: string): boolean {
  return /^\d*[LM]$/.test(text);
}

/** After this the cursor's column is the same everywhere. */
export function setsColumn(text: string): boolean {
  return /^[\d;]*[GHf`]$/.test(text);
}

type Slot =
  | "bold"
  | "dim"
  | "italic"
  | "underline"
  | "blink"
  | "inverse"
  | "hidden"
  | "strike"
  | "overline"
  | "foreground"
  | "background"
  | "line";

const SETS: Readonly<Record<string, Slot>> = {
  1: "bold",
  2: "dim",
  3: "italic",
  4: "underline",
  5: "blink",
  6: "blink",
  7: "inverse",
  8: "hidden",
  9: "strike",
  21: "underline",
  38: "foreground",
  48: "background",
  53: "overline",
  58: "line",
};

const CLEARS: Readonly<Record<string, readonly Slot[]>> = {
  22: ["bold", "dim"],
  23: ["italic"],
  24: ["underline"],
  25: ["blink"],
  27: ["inverse"],
  28: ["hidden"],
  29: ["strike"],
  39: ["foreground"],
  49: ["background"],
  55: ["overline"],
  59: ["line"],
};

/** Number of semicolon-separated fields that follow `38`, `48` or `58`, by color kind. */
const COLOR_FIELDS: Readonly<Record<string, number>> = { 5: 1, 2: 3 };

const BLANK_SLOTS: readonly Slot[] = ["background", "inverse", "underline", "strike", "overline"];

/** The attributes that a program draws with. */
export class Pen {
  /** False until a reset was seen: what was set before is unknown. */
  known: boolean;
  #slots: Map<Slot, string>;

  constructor(start: { known: boolean; slots?: ReadonlyMap<Slot, string> }) {
    this.known = start.known;
    this.#slots = new Map(start.slots ?? []);
  }

  copy(): Pen {
    return new Pen({ known: this.known, slots: this.#slots });
  }

  /** `params` is the text between `CSI` and `m`. After an odd one the attributes are unknown until the next reset. */
  apply(params: string): void {
    const fields = params.split(";");
    let isOdd = false;
    for (let at = 0; at < fields.length; at++) {
      const field = fields[at] ?? "";
      const isColor = field === "38" || field === "48" || field === "58";
      const more = isColor ? 1 + (COLOR_FIELDS[fields[at + 1] ?? ""] ?? 0) : 0;
      const whole = fields.slice(at, at + 1 + more).join(";");
      this.#applyOne(whole);
      isOdd ||= !isPlainAttribute(whole);
      at += more;
    }
    if (isOdd) this.known = false;
  }

  reset(): void {
    this.known = true;
    this.#slots.clear();
  }

  /** True if a blank drawn with them differs from a cell in which nothing was drawn. */
  get showsInBlanks(): boolean {
    return BLANK_SLOTS.some((slot) => this.#slots.has(slot));
  }

  /** The sequence that sets exactly these attributes. */
  sgr(): string {
    return `\u001b[${["0", ...this.#slots.values()].join(";")}m`;
  }

  #applyOne(field: string): void {
    const code = /^0*(\d*)/.exec(field)?.[1] ?? "";
    if (code === "" || code === "0") return this.reset();
    if (field === "4:0") return void this.#slots.delete("underline");
    for (const slot of CLEARS[code] ?? []) this.#slots.delete(slot);
    const slot = SETS[code] ?? basicColor(Number(code));
    if (slot !== undefined) this.#slots.set(slot, field);
  }
}

/** Terminals differ in kinds of underline and color that do not exist, in incomplete colors, and in levels over 255. */
function isPlainAttribute(field: string): boolean {
  if (/^\d*$/.test(field)) return !/^0*[345]8$/.test(field);
  const color = /^[345]8(?:;5;|:5:|;2;(\d+);(\d+);|:2:\d*:(\d+):(\d+):)(\d+)$/.exec(field);
  if (color === null) return /^4:[0-5]$/.test(field);
  return color.slice(1).every((level = "0") => Number(level) <= 255);
}

function basicColor(code: number): Slot | undefined {
  if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) return "foreground";
  return (code >= 40 && code <= 47) || (code >= 100 && code <= 107) ? "background" : undefined;
}
