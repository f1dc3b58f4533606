/** A snapshot of a pane, and the terminal output that shows the same in another terminal. */
import { type TmuxCommand, verbs } from "./argv.ts";
import { fieldsFormat, parseFields } from "./server.ts";
import { Pen } from "./mirror_drawing.ts";
import { unescapeOctal } from "./control_client.ts";
import { columnsOf } from "../async/columns.ts";
import { encodeUtf8 } from "../async/encodings.ts";

const FACTS = {
  pane: "#{pane_id}",
  dead: "#{pane_dead}",
  cols: "#{pane_width}",
  rows: "#{pane_height}",
  cursorX: "#{cursor_x}",
  cursorY: "#{cursor_y}",
  cursorVisible: "#{cursor_flag}",
  insert: "#{insert_flag}",
  cursorKeys: "#{keypad_cursor_flag}",
  keypad: "#{keypad_flag}",
  wrap: "#{wrap_flag}",
  origin: "#{origin_flag}",
  alternate: "#{alternate_on}",
  savedX: "#{alternate_saved_x}",
  savedY: "#{alternate_saved_y}",
  regionTop: "#{scroll_region_upper}",
  regionBottom: "#{scroll_region_lower}",
  mouseStandard: "#{mouse_standard_flag}",
  mouseButton: "#{mouse_button_flag}",
  mouseAll: "#{mouse_all_flag}",
  mouseSgr: "#{mouse_sgr_flag}",
  history: "#{history_size}",
  tabs: "#{pane_tabs}",
  switches: "#{alternate-screen}",
  title: "#{pane_title}",
};
type Fields = Record<keyof typeof FACTS, string>;

/** Columns and rows count from 0. */
export interface PaneFacts {
  cols: number;
  rows: number;
  /** `x` is `cols` while the next character would wrap. */
  cursor: { x: number; y: number; visible: boolean };
  /** Inclusive. */
  region: { top: number; bottom: number };
  modes: Record<"insert" | "cursorKeys" | "keypad" | "wrap" | "origin", boolean>;
  mouse: Record<"standard" | "button" | "all" | "sgr", boolean>;
  /** The normal screen's cursor while the alternate screen is shown. */
  saved: { x: number; y: number } | undefined;
  /** Lines above the screen. */
  history: number;
  tabs: number[];
  /** False if the user disabled tmux's alternate screen. */
  switchesScreen: boolean;
  title: string;
}

export interface Snapshot {
  facts: PaneFacts;
  /** At most as many lines as requested. */
  history: Line[];
  screen: Line[];
  /** The normal screen behind an alternate one. */
  behind: Line[];
  /** An unfinished sequence from the program. */
  pending: Uint8Array;
}

/** The commands that take a snapshot, to run as one request. `history`: this many lines above the screen. */
export function snapshotCommands(pane: string, { history }: { history: number }): TmuxCommand[] {
  const parts = [{}, { saved: true }, ...(history > 0 ? [{ history }] : [])];
  return [
    verbs.print(pane, fieldsFormat("pane", FACTS)),
    verbs.capturePending(pane),
    ...parts.flatMap((part) => [verbs.captureCells(pane, part), verbs.captureJoined(pane, part)]),
  ];
}

/** tmux prints line drawing between SO and SI. */
export function drawsLines({ text }: Line): boolean {
  return text.includes("\u000e");
}

/** Parses what the commands printed. Undefined if the pane is gone. */
export function parseSnapshot(pane: string, texts: readonly string[]): Snapshot | undefined {
  const [printed = "", pending = "", screen = "", joined = "", saved = "", savedJoined = ""] = texts;
  const fields = parseFields(printed, { tag: "pane", fields: FACTS });
  if (fields === undefined || fields.pane !== pane) return undefined;
  const facts = toFacts(fields);
  const { cols } = facts;
  return {
    facts,
    screen: toLines({ cells: screen, joined, cols }),
    behind: facts.saved === undefined ? [] : toLines({ cells: saved, joined: savedJoined, cols }),
    history: facts.history === 0 || texts[6] === undefined
      ? []
      : toLines({ cells: texts[6], joined: texts[7] ?? "", cols }),
    pending: unescapeOctal(encodeUtf8(pending)),
  };
}

function toFacts(fields: Fields): PaneFacts {
  const is = (name: keyof Fields): boolean => fields[name] === "1";
  const number = (name: keyof Fields): number => Number(fields[name]) || 0;
  return {
    cols: number("cols"),
    rows: number("rows"),
    cursor: { x: number("cursorX"), y: number("cursorY"), visible: is("cursorVisible") },
    region: { top: number("regionTop"), bottom: number("regionBottom") },
    modes: {
      insert: is("insert"),
      cursorKeys: is("cursorKeys"),
      keypad: is("keypad"),
      wrap: is("wrap"),
      origin: is("origin"),
    },
    mouse: {
      standard: is("mouseStandard"),
      button: is("mouseButton"),
      all: is("mouseAll"),
      sgr: is("mouseSgr"),
    },
    saved: is("alternate") ? { x: number("savedX"), y: number("savedY") } : undefined,
    history: number("history"),
    tabs: fields.tabs.split(",").filter((tab) => tab !== "").map(Number),
    switchesScreen: fields.switches !== "0",
    title: fields.title,
  };
}

/** A line of text with its SGR sequences. Attributes carry over from the line before. */
export interface Line {
  text: string;
  /** It continues on the next line. */
  wraps: boolean;
}

/** tmux 3.3a prints overlined as `5:3`, which means blinking (its own attribute number, divided by ten). */
const OVERLINE = /(?<=[[;])5:3(?=[;m])/g;
const SGR = /\u001b\[([\d:;]*)m/g;

/** A hyperlink's begin or end, which tmux prints from 3.4 on. */
const LINK = /\u001b\]8;[^\u001b]*\u001b\\/g;

/** Characters that tmux joined to the previous one without width; another terminal would give them width. */
const JOINED = /\u200d[^\u0000-\u007f]/gu;

/**
 * Splits a capture into lines. Both texts hold the same characters; a joined line that is longer shows that tmux
 * wrapped it. The line counts as wrapped only while it is still full, since a program may have erased its end. From 3.4
 * on, tmux ends lines with blanks that nobody wrote; those without a color are left out.
 */
export function toLines({ cells, joined, cols }: { cells: string; joined: string; cols: number }): Line[] {
  const texts = cells.replace(LINK, "").replace(JOINED, "").split("\n")
    .map((line) => line.replace(SGR, (sgr) => sgr.replace(OVERLINE, "53")));
  const rests = joined.replace(JOINED, "").split("\n");
  let rest = rests.shift() ?? "";
  const pen = new Pen({ known: true });
  return texts.map((all) => {
    for (const [, codes = ""] of all.matchAll(SGR)) pen.apply(codes);
    const characters = all.replace(SGR, "").replace(/[\u000e\u000f]/g, "");
    const plain = writtenOf(characters, rest);
    const blanks = characters.slice(plain.length);
    const text = !pen.showsInBlanks && all.endsWith(blanks) ? all.slice(0, all.length - blanks.length) : all;
    const goesOn = plain !== "" && rest.length > plain.length && rest.startsWith(plain);
    rest = goesOn ? rest.slice(plain.length) : rests.shift() ?? "";
    return { text, wraps: goesOn && isFull(plain, { next: rest, cols }) };
  });
}

/** The line without blanks at its end that the joined one does not have. */
function writtenOf(line: string, joined: string): string {
  let end = 0;
  while (end < line.length && line[end] === joined[end]) end++;
  return /^ *$/.test(line.slice(end)) ? line.slice(0, end) : line;
}

/** The last column stays empty if a wide character did not fit there. */
function isFull(line: string, { next, cols }: { next: string; cols: number }): boolean {
  const width = columnsOf(line);
  return width === cols || (width === cols - 1 && columnsOf(Array.from(next)[0] ?? "") === 2);
}

const CSI = "\u001b[";
/** Designates G1 as line drawing, which tmux prints between SO and SI. */
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
