/** A pane as tmux holds it at one moment: lines with their attributes, cursor, modes. */
import { type TmuxCommand, verbs } from "./argv.ts";
import { fieldsFormat, parseFields } from "./fields.ts";
import { type Line, toLines } from "./mirror_lines.ts";
import { unescapeOctal } from "./mirror_parser.ts";

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
  /** Both included. */
  region: { top: number; bottom: number };
  modes: Record<"insert" | "cursorKeys" | "keypad" | "wrap" | "origin", boolean>;
  mouse: Record<"standard" | "button" | "all" | "sgr", boolean>;
  /** Where the cursor of the normal screen was left; undefined while that is the one shown. */
  saved: { x: number; y: number } | undefined;
  /** Lines above the screen. */
  history: number;
  tabs: number[];
  /** False when the user switched tmux's alternate screen off. */
  switchesScreen: boolean;
  title: string;
}

export interface Snapshot {
  facts: PaneFacts;
  /** As many as asked for, and as there are. */
  history: Line[];
  screen: Line[];
  /** The normal screen behind an alternate one. */
  behind: Line[];
  /** What the program sent of a sequence that is not complete. */
  pending: Uint8Array;
}

/** The commands of a snapshot, to run in one go. `history`: so many lines above the screen, 0 for none. */
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

/** From what the commands printed; undefined when the pane is gone. */
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
    pending: unescapeOctal(new TextEncoder().encode(pending)),
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
