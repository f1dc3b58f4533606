/** Reads the screen of an agent whose input line has a frame: whether that line takes the keys, and what stands in it. */
import type { Composer } from "./composer.ts";
import type { DialogMarks, Screen, ScreenReading } from "./profile.ts";
import { hasMark, hasTitleMark, tailOf } from "./read_screen.ts";

/**
 * What the terminal's cursor tells. `placed`: it stands in the input line whenever that takes the keys. `shown`: it is
 * also hidden otherwise. `loose`: it may stand anywhere, as after the terminal lost the focus.
 */
export type CursorHabit = "placed" | "shown" | "loose";

export interface ComposerPatterns {
  dialog: DialogMarks;
  find(lines: readonly string[]): Composer | undefined;
  /** The agent's own texts in an empty input line, for when the cursor does not tell. */
  placeholder: RegExp;
  /** Lines above and below the input line, and titles, that stand there only while the agent works. */
  working: { above?: RegExp; below?: RegExp; title?: RegExp };
  cursor: CursorHabit;
}

type Cursor = Screen["cursor"];

/** The rows of the tail on both sides of the input line; without one all of them are above. */
interface Surroundings {
  above: string[];
  below: string[];
}

/** How many rows above the screen's end may name the keys of a dialog. */
const HINT_ROWS = 6;
/** The chosen row of a list: indented, or numbered. What a person said before stands in the first column. */
const CHOSEN_ROW = /^(?:[│┃\s]+[❯›●▶→>]\s|[❯›●▶→>]\s*\d+[.)]\s)/u;
const KEY_HINT = /\b(?:enter|return|esc|tab)\b/i;
const NUMBERED = /^\d+[.)] /;

export function readComposer(screen: Screen, patterns: ComposerPatterns): ScreenReading {
  const composer = patterns.find(screen.lines);
  const around = surroundings(screen, composer);
  const dialog = hasTitleMark(screen.title, patterns.dialog) ||
    (composer === undefined
      ? asksSomething(around.above, patterns)
      : hasMark(around.below, patterns.dialog) || isElsewhere(screen.cursor, { composer, ...patterns }));
  if (dialog) return { state: "waiting", focus: "dialog", draft: undefined };
  const idle = composer === undefined ? undefined : "idle";
  const state = isWorking(screen, { around, patterns }) ? "working" : idle;
  if (composer === undefined) return { state, focus: "unknown", draft: undefined };
  return { state, focus: "composer", draft: draftOf(composer, { ...patterns, cursor: screen.cursor }) };
}

function surroundings({ lines, cursor }: Screen, composer: Composer | undefined): Surroundings {
  const tail = tailOf(lines);
  if (composer === undefined) return { above: tail, below: [] };
  const end = lines.findLastIndex((line) => line.trim() !== "") + 1;
  // The chosen row of a numbered list looks like an input line, but the cursor is elsewhere.
  const isList = NUMBERED.test(composer.text) && !isInside(cursor, composer);
  const below = lines.slice(isList ? composer.top : composer.bottom + 1, end);
  return { above: lines.slice(end - tail.length, composer.top), below };
}

/** No input line is on the screen, and a mark, a chosen row of a list or the names of its keys are. */
function asksSomething(tail: readonly string[], patterns: ComposerPatterns): boolean {
  if (hasMark(tail, patterns.dialog) || tail.some((line) => CHOSEN_ROW.test(line))) return true;
  const hints = tail.filter((line) => line.trim() !== "" && !showsWork(line, patterns.working));
  return hints.slice(-HINT_ROWS).some((line) => KEY_HINT.test(line));
}

/** Something else takes the keys. A cursor at 0,0 is one that nobody looked up. */
function isElsewhere(cursor: Cursor, seen: { composer: Composer; cursor: CursorHabit }): boolean {
  if (cursor.x === 0 && cursor.y === 0) return false;
  switch (seen.cursor) {
    case "placed":
      return !isInside(cursor, seen.composer);
    case "shown":
      return !cursor.visible || cursor.y < seen.composer.top;
    case "loose":
      return false;
  }
}

function isInside({ x, y }: Cursor, { top, left, bottom }: Composer): boolean {
  return y >= top && y <= bottom && x >= left;
}

function showsWork(line: string, { above, below }: ComposerPatterns["working"]): boolean {
  return Boolean(above?.test(line) || below?.test(line));
}

function isWorking(
  { title }: Screen,
  { around, patterns }: { around: Surroundings; patterns: ComposerPatterns },
): boolean {
  const { above, below, title: workingTitle } = patterns.working;
  return Boolean(workingTitle?.test(title)) ||
    around.above.some((line) => above?.test(line)) || around.below.some((line) => below?.test(line));
}

/**
 * A cursor at the text's start means that the agent's own hint stands there and that nobody has typed. Text that a person
 * typed and then left from its start reads as empty too: no screen tells the two apart.
 */
function draftOf(composer: Composer, seen: { cursor: Cursor; placeholder: RegExp }): string {
  const { cursor, placeholder } = seen;
  const { text, shell, top, left } = composer;
  const isHint = placeholder.test(text);
  const isStart = cursor.x === left && cursor.y === top && (isHint || !text.includes("\n"));
  const isEmpty = isInside(cursor, composer) ? isStart : isHint;
  const typed = isEmpty ? "" : text;
  return shell ? `!${typed}` : typed;
}
