/** Reads an agent's screen: whether its composer takes the keys and what stands in it, or else a menu or a dialog. */
import { type Composer, isBlank, lastRow } from "./composer.ts";
import type { DialogMarks, MenuScreen, Screen, ScreenReading } from "./profile.ts";

/**
 * What the terminal's cursor tells. `placed`: it stands in the composer whenever that takes the keys. `shown`: it is also
 * visible then. `hidden`: it is also hidden then. `left`: hidden, and at the start of a row below the composer after the
 * terminal lost the focus.
 */
export type CursorHabit = "placed" | "shown" | "hidden" | "left" | "unmeasured";

export interface ComposerPatterns {
  dialog: DialogMarks;
  menus: readonly MenuScreen[];
  find(lines: readonly string[]): Composer | undefined;
  /** Whether the rows below the composer are as the agent draws them. */
  hasFooter(footer: readonly string[], around: FooterPlace): boolean;
  /** The agent's own texts in an empty composer, for when the cursor does not tell. */
  placeholder: RegExp;
  /** A command with the agent's hint on its arguments, which stands behind the cursor; the first group is the command. */
  argumentHint?: RegExp;
  /** Lines above and below the composer, and titles, that stand there only while the agent works. */
  working: { above?: RegExp; below?: RegExp; title?: RegExp };
  cursor: CursorHabit;
  /** A title under which the agent shows another view that has a line like its composer. */
  otherView?: RegExp;
  /** The first row of a panel that the agent draws over its composer. */
  panel?: RegExp;
}

export interface FooterPlace {
  /** Rows of the screen below the footer. */
  rowsBelow: number;
  /** The cursor stands in the composer. */
  isPlaced: boolean;
}

type Cursor = Screen["cursor"];

/** How many rows above the screen's end may name the keys of a dialog. */
const HINT_ROWS = 6;
/** The chosen row of a list: indented, or numbered. What a person said before stands in the first column. */
const CHOSEN_ROW = /^(?:[│┃\s]+[❯›●▶→>]\s|[❯›●▶→>]\s*\d+[.)]\s)/u;
const KEY_HINT = /\b(?:enter|return|esc|tab)\b/i;
/** No agent names what Enter does below its composer, and every dialog with a line of its own does. */
const NAMES_ENTER = /\b(?:enter|return|space) (?:to )?(?!for\b)[a-z]/i;

export type ReadScreen = (screen: Screen) => ScreenReading;

/** The reader of one profile; its patterns are compiled once. */
export function composerReader(patterns: ComposerPatterns): ReadScreen {
  const marks = compiledMarks(patterns.dialog);
  return (screen) => {
    if (isOversized(screen) || screen.applicationKeys) return UNKNOWN;
    if (marks.inTitle(screen.title)) return OPEN_DIALOG;
    const composer = patterns.find(screen.lines);
    const isOther = patterns.otherView?.test(screen.title) ?? false;
    if (composer !== undefined && !isOther && takesKeys(composer, { screen, patterns })) {
      return readingOf(composer, { screen, patterns });
    }
    const menu = patterns.menus.find((one) => one.isShown(screen));
    if (menu !== undefined) {
      return { state: menu.isView ? undefined : "waiting", focus: "menu", draft: undefined, menu: menu.name };
    }
    const asks = !isOther && !showsEditor(screen) &&
      (marks.inLines(tailOf(screen.lines)) || asksSomething(screen, { composer, patterns }));
    return asks ? OPEN_DIALOG : unknownReading(screen, { composer, patterns });
  };
}

const UNKNOWN: ScreenReading = { state: undefined, focus: "unknown", draft: undefined };
const OPEN_DIALOG: ScreenReading = { state: "waiting", focus: "dialog", draft: undefined };

interface Seen {
  screen: Screen;
  patterns: ComposerPatterns;
}

/** Frame, footer and cursor are as the agent has them while it takes text. */
function takesKeys(composer: Composer, { screen, patterns }: Seen): boolean {
  const { footer, bottom } = composer;
  const rowsBelow = screen.lines.length - (bottom + 1 + footer.length);
  const isPlaced = isInside(screen.cursor, composer);
  return patterns.hasFooter(footer, { rowsBelow, isPlaced }) &&
    !footer.some((line) => NAMES_ENTER.test(line)) &&
    isCursorRight(screen.cursor, { composer, habit: patterns.cursor });
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

function readingOf(composer: Composer, seen: Seen): ScreenReading {
  const state = isWorking(composer, seen) ? "working" : "idle";
  const draft = draftOf(composer, { ...seen.patterns, cursor: seen.screen.cursor });
  return { state, focus: "composer", draft, ...(composer.cut && draft !== "" ? { cut: true } : {}) };
}

/** A draft that pushed everything else off the screen is no proof of a composer. */
function unknownReading(screen: Screen, { composer, patterns }: SeenRest): ScreenReading {
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

interface SeenRest {
  composer: Composer | undefined;
  patterns: ComposerPatterns;
}

/**
 * A panel over the composer, a composer that the cursor left, a chosen row of a list or the names of its keys are on the
 * screen.
 */
function asksSomething(screen: Screen, { composer, patterns }: SeenRest): boolean {
  const { panel, working, cursor: habit } = patterns;
  if (panel !== undefined && screen.lines.some((line) => panel.test(line))) return true;
  if (composer !== undefined) {
    return !isCursorRight(screen.cursor, { composer, habit }) ||
      composer.footer.some((line) => NAMES_ENTER.test(line));
  }
  const tail = tailOf(screen.lines);
  if (tail.some((line) => CHOSEN_ROW.test(line))) return true;
  const hints = tail.filter((line) =>
    !isBlank(line) && !working.above?.test(line) && !working.below?.test(line)
  );
  return hints.slice(-HINT_ROWS).some((line) => KEY_HINT.test(line));
}

function isWorking({ top, footer }: Composer, { screen, patterns }: Seen): boolean {
  const { above, below, title } = patterns.working;
  if (title?.test(screen.title)) return true;
  return tailOf(screen.lines.slice(0, top)).some((line) => above?.test(line)) ||
    footer.some((line) => below?.test(line));
}

/** No hint begins so: Enter runs it. */
const COMMAND = /^[/!@#&]/;

/**
 * A cursor at the text's start means that the agent's own hint stands there and that nobody has typed. Text that a person
 * typed and then left from its start reads as empty too, unless it is a command: no screen tells the two apart.
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
    (isHint || !(text.includes("\n") || COMMAND.test(text)));
  const isEmpty = isInside(cursor, composer) ? isStart : isHint;
  const typed = isEmpty ? "" : text;
  return shell ? `!${typed}` : typed;
}

/** A dialog, a status line and a composer stand in this many last lines that are not blank. */
export const TAIL_LINES = 24;
/** A larger screen is not read: no window is larger, and reading one takes the listener's time. */
export const MAX_SCREEN_ROWS = 300;
export const MAX_SCREEN_COLUMNS = 600;

export function isOversized({ lines }: Screen): boolean {
  return lines.length > MAX_SCREEN_ROWS || lines.some((line) => line.length > MAX_SCREEN_COLUMNS);
}

/** The last lines of the screen, trailing blank ones left out. */
export function tailOf(lines: readonly string[]): string[] {
  const last = lastRow(lines);
  return lines.slice(Math.max(0, last + 1 - TAIL_LINES), last + 1);
}

/** The marks of one profile as JavaScript matches them. */
export interface CompiledMarks {
  inLines(lines: readonly string[]): boolean;
  inTitle(title: string): boolean;
  /** The most pessimistic of tail and title wins. */
  onScreen(screen: Screen): boolean;
}

export function compiledMarks(marks: DialogMarks): CompiledMarks {
  const patterns = marks.lines.map((source) => new RegExp(source));
  const globs = marks.titles.map(globPattern);
  const inLines = (lines: readonly string[]): boolean =>
    lines.some((line) => patterns.some((pattern) => pattern.test(line)));
  const inTitle = (title: string): boolean => globs.some((glob) => glob.test(title));
  return { inLines, inTitle, onScreen: ({ lines, title }) => inLines(tailOf(lines)) || inTitle(title) };
}

/** The last row of vi, less and nano, each with what may stand there. */
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

/** An editor or a pager has the whole screen: what it shows above its own last row is the text of a file. */
export function showsEditor({ lines, applicationKeys }: Screen): boolean {
  if (applicationKeys) return true;
  const row = lastRow(lines);
  const line = lines[row]?.trimEnd() ?? "";
  return EDITOR_ROWS.some((pattern) => pattern.test(line)) || (row > 0 && line === "~");
}

/** `*` and `?` of fnmatch; `[` stands for itself, as the profiles' titles need it. */
function globPattern(glob: string): RegExp {
  const source = glob.replace(/[.+^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*").replaceAll("?", ".");
  return new RegExp(`^${source}$`, "s");
}
