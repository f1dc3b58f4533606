/** Reads an agent's screen: whether its composer takes the keys and what it contains, or else a menu or a dialog. */
import { columnsOf, sliceColumns } from "../async/columns.ts";
import { canonicalText } from "../protocol/canonical.ts";
import { type Composer, isBlank, lastRow } from "./composer.ts";
import type { DialogMarks, MenuScreen, Screen, ScreenReading } from "./profile.ts";

/**
 * Where the terminal's cursor is while the composer takes the keys. `placed`: in the composer. `shown`: there, and
 * visible. `hidden`: there, and hidden. `left`: hidden, and at the start of a row below the composer once the terminal has
 * lost the focus.
 */
export type CursorHabit = "placed" | "shown" | "hidden" | "left" | "unmeasured";

export interface ComposerPatterns {
  dialog: DialogMarks;
  menus: readonly MenuScreen[];
  find(lines: readonly string[]): Composer | undefined;
  /** Whether the rows below the composer look as the agent draws them. */
  hasFooter(footer: readonly string[], around: FooterPlace): boolean;
  /** The agent's own hints in an empty composer, for when the cursor does not decide. */
  placeholder: RegExp;
  /** A command followed by the agent's hint on its arguments; the first group is the command. */
  argumentHint?: RegExp;
  /** Lines above and below the composer, and titles, that are shown only while the agent works. */
  working: { above?: RegExp; below?: RegExp; title?: RegExp };
  /** The last row with text before the one that matches `working.above`, in a turn that was interrupted. */
  interrupted?: RegExp;
  cursor: CursorHabit;
  /** The title of another view of the agent that has a line like its composer. */
  otherView?: RegExp;
  /** The first row of a panel that the agent draws over its composer. */
  panel?: RegExp;
  /** True if a list is drawn over the composer, which still shows around it. */
  isCovered?(screen: Screen): boolean;
  /** The first row of a tip below the composer, which may name any key. The tip ends at a blank row. */
  tip?: RegExp;
}

export interface FooterPlace {
  /** Rows of the screen below the footer. */
  rowsBelow: number;
  /** The cursor is in the composer. */
  isPlaced: boolean;
}

type Cursor = Screen["cursor"];

/** How many rows above the screen's end may name the keys of a dialog. */
const HINT_ROWS = 6;
/** The chosen row of a list: indented, or numbered. Earlier prompts begin in the first column. */
const CHOSEN_ROW = /^(?:[│┃\s]+[❯›●▶→>]\s|[❯›●▶→>]\s*\d+[.)]\s)/u;
const KEY_HINT = /\b(?:enter|return|esc|tab)\b/i;
/** No agent explains Enter below its composer; every dialog with an input line does. */
const NAMES_ENTER = /\b(?:enter|return|space) (?:to )?(?!for\b)[a-z]/i;
/** The path of a folder up to the next part of a footer: its names may be any words. */
const PATH = /(?<!\S)(?:[~…]\/|\/[^\s/]+\/)(?:(?! {2}| [·•|│] ).)*/gu;

export type ReadScreen = (screen: Screen) => ScreenReading;

/** The reader of one profile; its patterns are compiled once. */
export function composerReader(patterns: ComposerPatterns): ReadScreen {
  const marks = compiledMarks(patterns.dialog);
  return (screen) => {
    if (isOversized(screen) || screen.applicationKeys) return UNKNOWN;
    if (marks.inTitle(screen.title)) return OPEN_DIALOG;
    const isCovered = patterns.isCovered?.(screen) ?? false;
    const composer = isCovered ? undefined : patterns.find(screen.lines);
    const isOther = patterns.otherView?.test(screen.title) ?? false;
    if (composer !== undefined && !isOther && takesKeys(composer, { screen, patterns })) {
      return readingOf(composer, { screen, patterns });
    }
    const menu = patterns.menus.find((one) => one.isShown(screen));
    if (menu !== undefined) {
      return { state: menu.isView ? undefined : "waiting", focus: "menu", draft: undefined, menu: menu.name };
    }
    const asks = !isOther && !showsEditor(screen) &&
      (isCovered || marks.inLines(tailOf(screen.lines)) || asksSomething(screen, { composer, patterns }));
    return asks ? OPEN_DIALOG : unknownReading(screen, { composer, patterns });
  };
}

const UNKNOWN: ScreenReading = { state: undefined, focus: "unknown", draft: undefined };
const OPEN_DIALOG: ScreenReading = { state: "waiting", focus: "dialog", draft: undefined };

interface ScreenContext {
  screen: Screen;
  patterns: ComposerPatterns;
}

/** True if the frame, footer and cursor look as they do while the agent takes text. */
function takesKeys(composer: Composer, { screen, patterns }: ScreenContext): boolean {
  const { footer, bottom } = composer;
  const rowsBelow = screen.lines.length - (bottom + 1 + footer.length);
  const isPlaced = isInside(screen.cursor, composer);
  return patterns.hasFooter(footer, { rowsBelow, isPlaced }) &&
    !namesEnter(footer, patterns.tip) &&
    isCursorRight(screen.cursor, { composer, habit: patterns.cursor });
}

function namesEnter(footer: readonly string[], tip: RegExp | undefined): boolean {
  const start = tip === undefined ? -1 : footer.findIndex((line) => tip.test(line));
  const length = start < 0 ? 0 : footer.slice(start).findIndex(isBlank);
  // A tip without an end is not one: nothing else is below it.
  const hints = length < 0 ? footer : footer.toSpliced(Math.max(0, start), length);
  return hints.some((line) => NAMES_ENTER.test(line.replace(PATH, "")));
}

function isCursorRight(cursor: Cursor, seen: { composer: Composer; habit: CursorHabit }): boolean {
  const isPlaced = isInside(cursor, seen.composer);
  switch (seen.habit) {
    case "placed":
      return isPlaced;
    case "shown":
      return isPlaced && cursor.visible;
    case "hidden":
      return isPlaced && !cursor.visible;
    case "unmeasured":
      return true;
    case "left":
      return !cursor.visible && (isPlaced || (cursor.x === 0 && cursor.y > seen.composer.bottom));
  }
}

function isInside({ x, y }: Cursor, { top, left, bottom }: Composer): boolean {
  return y >= top && y <= bottom && x >= left;
}

function readingOf(composer: Composer, seen: ScreenContext): ScreenReading {
  const state = isWorking(composer, seen) ? "working" : "idle";
  const draft = draftOf(composer, { ...seen.patterns, cursor: seen.screen.cursor });
  return {
    state,
    focus: "composer",
    draft,
    ...(composer.cut && draft !== "" ? { cut: true } : {}),
    ...(draft !== "" && isInCommand(seen.screen, composer) ? { cursorInCommand: true } : {}),
    ...(isInterrupted(composer, seen) ? { interrupted: true } : {}),
  };
}

const COMMAND_NAME = /^ *\/\S*/;

/**
 * True if the cursor is before the end of the slash command's name in the first row, or at the end of a path that text
 * follows: some agents look for a command by the path.
 */
function isInCommand({ lines, cursor }: Screen, { top, left }: Composer): boolean {
  const row = sliceColumns(lines[top] ?? "", left);
  const name = COMMAND_NAME.exec(row)?.[0] ?? "";
  const isPath = name.trimStart().indexOf("/", 1) > 0 && !isBlank(row.slice(name.length));
  const end = left + name.length + (isPath ? 1 : 0);
  return name !== "" && cursor.y === top && cursor.x >= left && cursor.x < end;
}

/** A draft that has pushed everything else off the screen does not prove a composer. */
function unknownReading(screen: Screen, { composer, patterns }: UnknownContext): ScreenReading {
  const isDraft = composer?.cut === true && composer.footer.length === 0 &&
    isCursorRight(screen.cursor, { composer, habit: patterns.cursor });
  const isBusy = patterns.working.title?.test(screen.title) ?? false;
  const reading: ScreenReading = {
    state: isBusy ? "working" : undefined,
    focus: "unknown",
    draft: undefined,
  };
  return isDraft ? { ...reading, draft: composer.text, cut: true } : reading;
}

interface UnknownContext {
  composer: Composer | undefined;
  patterns: ComposerPatterns;
}

/**
 * True if the screen shows a panel over the composer, a composer without the cursor, a chosen row of a list or the
 * names of its keys.
 */
function asksSomething(screen: Screen, { composer, patterns }: UnknownContext): boolean {
  const { panel, tip, working, cursor: habit } = patterns;
  if (panel !== undefined && screen.lines.some((line) => panel.test(line))) return true;
  if (composer !== undefined) {
    return !isCursorRight(screen.cursor, { composer, habit }) ||
      namesEnter(composer.footer, tip);
  }
  const tail = tailOf(screen.lines);
  if (tail.some((line) => CHOSEN_ROW.test(line))) return true;
  const hints = tail.filter((line) =>
    !isBlank(line) && !working.above?.test(line) && !working.below?.test(line)
  );
  return hints.slice(-HINT_ROWS).some((line) => KEY_HINT.test(line));
}

function isWorking({ top, footer }: Composer, { screen, patterns }: ScreenContext): boolean {
  const { above, below, title } = patterns.working;
  if (title?.test(screen.title)) return true;
  return tailOf(screen.lines.slice(0, top)).some((line) => above?.test(line)) ||
    footer.some((line) => below?.test(line));
}

function isInterrupted(
  { top }: Composer,
  { screen, patterns: { interrupted, working } }: ScreenContext,
): boolean {
  if (interrupted === undefined) return false;
  const rows = tailOf(screen.lines.slice(0, top)).filter((line) => !isBlank(line));
  const last = rows.findLastIndex((line) => working.above?.test(line));
  return last > 0 && interrupted.test(rows[last - 1] ?? "");
}

/** Text that is never a hint: a command that Enter runs, or one with the placeholder of a paste, which may hide one. */
const NO_HINT = /^[/!@#&]|\[Paste/;

/**
 * A cursor at the start of the text means that the text is the agent's own hint. Typed text with the cursor moved to its
 * start reads as empty too, unless Enter may run it: the screen does not distinguish the two.
 */
function draftOf(
  composer: Composer,
  seen: { cursor: Cursor; placeholder: RegExp; argumentHint?: RegExp },
): string {
  const { cursor, placeholder, argumentHint } = seen;
  const { text, shell, top, left } = composer;
  const command = argumentHint?.exec(text)?.[1];
  if (command !== undefined && cursor.y === top && cursor.x === left + command.length) return command;
  const isHint = placeholder.test(text);
  const isStart = cursor.x === left && cursor.y === top &&
    (isHint || !(text.includes("\n") || NO_HINT.test(canonicalText(text))));
  const isEmpty = isInside(cursor, composer) ? isStart : isHint;
  const typed = isEmpty ? "" : text;
  return shell ? `!${typed}` : typed;
}

/** A dialog, a status line and a composer fit in this many lines before the trailing blank ones. */
export const TAIL_LINES = 24;
/** A larger screen is not read: no window is larger, and reading it would cost the listener time. */
export const MAX_SCREEN_ROWS = 300;
export const MAX_SCREEN_COLUMNS = 600;

/** Combining characters and joined emoji take many more units than columns; beyond this, a row is not counted. */
const MAX_ROW_UNITS = 4 * MAX_SCREEN_COLUMNS;

export function isOversized({ lines }: Screen): boolean {
  const isWide = (line: string): boolean =>
    line.length > MAX_SCREEN_COLUMNS &&
    (line.length > MAX_ROW_UNITS || columnsOf(line) > MAX_SCREEN_COLUMNS);
  return lines.length > MAX_SCREEN_ROWS || lines.some(isWide);
}

/** The last lines of the screen without the trailing blank ones. */
export function tailOf(lines: readonly string[]): string[] {
  const last = lastRow(lines);
  return lines.slice(Math.max(0, last + 1 - TAIL_LINES), last + 1);
}

/** The dialog marks of one profile, compiled for JavaScript. */
export interface CompiledMarks {
  inLines(lines: readonly string[]): boolean;
  inTitle(title: string): boolean;
  /** True if either the tail or the title shows a dialog. */
  onScreen(screen: Screen): boolean;
}

const compiled = new WeakMap<DialogMarks, CompiledMarks>();

/** Compiles each profile's marks once. */
export function compiledMarks(marks: DialogMarks): CompiledMarks {
  const known = compiled.get(marks) ?? compile(marks);
  compiled.set(marks, known);
  return known;
}

function compile(marks: DialogMarks): CompiledMarks {
  // Without a mark nothing matches.
  const pattern = new RegExp(marks.lines.map((source) => `(?:${source})`).join("|") || "(?!)");
  const globs = marks.titles.map(globPattern);
  const inLines = (lines: readonly string[]): boolean => lines.some((line) => pattern.test(line));
  const inTitle = (title: string): boolean => globs.some((glob) => glob.test(title));
  return { inLines, inTitle, onScreen: ({ lines, title }) => inLines(tailOf(lines)) || inTitle(title) };
}

/** What the last row of vi, less and nano may contain. */
const EDITOR_ROWS = [
  /^"[^"]*" (?:\[[A-Za-z ]+\] ?)*\d+(?:L|,? lines?),? \d+(?:B|C| bytes)/,
  /^<[^"]*" (?:\[[A-Za-z ]+\] ?)*\d+L, \d+[BC]/,
  /^-- (?:INSERT|REPLACE|VISUAL|VISUAL LINE|VISUAL BLOCK)\b/,
  / \d+,\d+(?:-\d+)? {2,}(?:All|Top|Bot|\d+%)$/,
  /^\s*\d+,\d+(?:-\d+)? {2,}(?:All|Top|Bot|\d+%)$/,
  /^E\d+: /,
  /^:/,
  /^\(END\)$/,
  /^\^X (?:Exit|Help)/,
];

/** True if an editor or a pager fills the screen: everything above its last row is the text of a file. */
export function showsEditor({ lines, applicationKeys }: Screen): boolean {
  if (applicationKeys) return true;
  const row = lastRow(lines);
  const line = lines[row]?.trimEnd() ?? "";
  return EDITOR_ROWS.some((pattern) => pattern.test(line)) || (row > 0 && line === "~");
}

/** `*` and `?` of fnmatch; `[` is literal, because the profiles' titles contain it. */
function globPattern(glob: string): RegExp {
  const source = glob.replace(/[.+^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*").replaceAll("?", ".");
  return new RegExp(`^${source}$`, "s");
}
