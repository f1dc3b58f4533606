/** Renders a snapshot as terminal output that makes another terminal show the same. */
import type { Line, PaneFacts, Snapshot } from "./mirror_snapshot.ts";
import { Pen } from "./mirror_pen.ts";
import { encodeUtf8 } from "../async/utf8.ts";

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
