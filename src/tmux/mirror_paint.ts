/** Renders a snapshot as terminal output that makes another terminal show the same. */
import { encodeUtf8 } from "../async/encodings.ts";
import type { Line, PaneFacts, Snapshot } from "./mirror_snapshot.ts";

const CSI = "\u001b[";
const SGR = /\u001b\[([\d:;]*)m/g;
/** tmux prints line drawing between SO and SI. */
const CHARSETS = "\u001b(B\u001b)0\u000f";
const TAB_EVERY = 8;

export interface PaintOptions {
  /** Sequences that restore the attributes the program draws with next. Empty if unknown. */
  pen: string;
}

/** Paints a terminal that was just reset. */
export function paintAnew(snapshot: Snapshot, { pen }: PaintOptions): Uint8Array {
  const { facts, history, screen, behind } = snapshot;
  const first = facts.saved === undefined ? screen : behind;
  const parts = [
    CHARSETS,
    paintHistory(history, facts.rows),
    paintLines(first),
    facts.saved && `${moveTo(facts.saved)}${CSI}?1049h${paintLines(screen)}`,
    settle(snapshot),
    pen,
  ];
  return encodeUtf8(parts.join(""));
}

/**
 * Repaints a terminal that has followed the output so far. Its scrollback stays. Corrects attributes that were wrong
 * because tmux does not report them.
 */
export function paintOver(snapshot: Snapshot, { pen }: PaintOptions): Uint8Array {
  const clean = `${CSI}?6l${CSI}r${CSI}4l${CSI}?7h${CHARSETS}${CSI}0m${CSI}H${CSI}J`;
  return encodeUtf8([clean, paintLines(snapshot.screen), settle(snapshot), pen].join(""));
}

/** Writes the lines to an empty screen and scrolls them off the top. */
function paintHistory(lines: readonly Line[], rows: number): string {
  if (lines.length === 0) return "";
  const pen = new Pen({ known: true });
  const last = lines.length - 1;
  const painted = lines.map((line, at) => paint(line, pen) + (line.wraps && at < last ? "" : "\r\n"));
  return painted.join("") + `${CSI}0m` + "\n".repeat(Math.max(0, rows - 1)) + `${CSI}H`;
}

/** Positions each line that does not continue the previous one, so that a width difference cannot shift the lines below. */
function paintLines(lines: readonly Line[]): string {
  const pen = new Pen({ known: true });
  const painted = lines.map((line, y) => {
    const goesOn = lines[y - 1]?.wraps ?? false;
    return (goesOn ? "" : moveTo({ x: 0, y })) + paint(line, pen);
  });
  return `${painted.join("")}${CSI}0m`;
}

/** The line with the attributes carried over from the line before. `pen` tracks them. */
function paint({ text }: Line, pen: Pen): string {
  const carried = pen.sgr();
  for (const [, params = ""] of text.matchAll(SGR)) pen.apply(params);
  return carried + text;
}

/** Sets tab stops, modes and cursor, once the cells are painted. */
function settle({ facts, screen }: Snapshot): string {
  const { region, modes, mouse, cursor, rows } = facts;
  const isWholeRegion = region.top === 0 && region.bottom === rows - 1;
  return [
    setTabs(facts),
    isWholeRegion ? "" : `${CSI}${region.top + 1};${region.bottom + 1}r`,
    modes.origin ? `${CSI}?6h` : "",
    setCursor(facts, screen),
    modes.insert ? `${CSI}4h` : "",
    modes.wrap ? "" : `${CSI}?7l`,
    modes.keypad ? "\u001b=" : "\u001b>",
    privateMode(1, modes.cursorKeys),
    privateMode(25, cursor.visible),
    setMouse(mouse),
  ].join("");
}

/** Disabling one mouse mode disables all of them. */
function setMouse({ standard, button, all, sgr }: PaneFacts["mouse"]): string {
  const wanted: [number, boolean][] = [[1000, standard], [1002, button], [1003, all], [1006, sgr]];
  const off = privateMode(1000, false) + privateMode(1006, false);
  return off + wanted.map(([mode, isOn]) => isOn ? privateMode(mode, true) : "").join("");
}

/** A cursor past the last column gets there only by writing that column. */
function setCursor({ cols, cursor, modes, region }: PaneFacts, screen: readonly Line[]): string {
  const top = modes.origin ? region.top : 0;
  const at = (x: number): string => moveTo({ x, y: Math.max(0, cursor.y - top) });
  if (cursor.x < cols) return at(cursor.x);
  const pen = new Pen({ known: true });
  const line = screen.slice(0, cursor.y + 1).map((one) => paint(one, pen)).pop() ?? "";
  return `${at(0)}${line}${CSI}0m`;
}

function setTabs({ tabs, cols }: PaneFacts): string {
  const usual = Array.from(
    { length: Math.max(0, Math.ceil(cols / TAB_EVERY) - 1) },
    (_, at) => (at + 1) * TAB_EVERY,
  );
  if (tabs.join() === usual.join()) return "";
  return `${CSI}3g${tabs.map((x) => `${moveTo({ x, y: 0 })}\u001bH`).join("")}`;
}

function privateMode(mode: number, isOn: boolean): string {
  return `${CSI}?${mode}${isOn ? "h" : "l"}`;
}

function moveTo({ x, y }: { x: number; y: number }): string {
  return `${CSI}${y + 1};${x + 1}H`;
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

/** Number of semicolon-separated fields that follow `38`, `48` or `58`, by colour kind. */
const COLOUR_FIELDS: Readonly<Record<string, number>> = { 5: 1, 2: 3 };

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

  /** `params` is the text between `CSI` and `m`. */
  apply(params: string): void {
    const fields = params.split(";");
    for (let at = 0; at < fields.length; at++) {
      const field = fields[at] ?? "";
      const isColour = field === "38" || field === "48" || field === "58";
      const more = isColour ? 1 + (COLOUR_FIELDS[fields[at + 1] ?? ""] ?? 0) : 0;
      this.#applyOne(fields.slice(at, at + 1 + more).join(";"));
      at += more;
    }
  }

  reset(): void {
    this.known = true;
    this.#slots.clear();
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
    const slot = SETS[code] ?? basicColour(Number(code));
    if (slot !== undefined) this.#slots.set(slot, field);
  }
}

function basicColour(code: number): Slot | undefined {
  if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) return "foreground";
  return (code >= 40 && code <= 47) || (code >= 100 && code <= 107) ? "background" : undefined;
}
