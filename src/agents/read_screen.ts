/** Reads a screen by a profile's patterns: dialogs first, then work, then the input line. */
import type { AgentState } from "../protocol/session.ts";
import type { DialogMarks, Screen, ScreenReading } from "./profile.ts";

/** A dialog, a status line and an input box stand in this many last lines that are not blank. */
export const TAIL_LINES = 24;

export interface ScreenPatterns {
  dialog: DialogMarks;
  /** Matched against single lines of the tail, while the agent works. */
  working: readonly RegExp[];
  /** Matched against the title, while the agent works. */
  workingTitle?: RegExp;
  /** The text in the input line, `""` when it is empty; undefined when none is on the screen. */
  draft(tail: readonly string[]): string | undefined;
}

/** The last lines of the screen, trailing blank ones left out. */
export function tailOf(lines: readonly string[]): string[] {
  const last = lines.findLastIndex((line) => line.trim() !== "");
  return lines.slice(Math.max(0, last + 1 - TAIL_LINES), last + 1);
}

export function readByPatterns(screen: Screen, patterns: ScreenPatterns): ScreenReading {
  const tail = tailOf(screen.lines);
  const dialog = showsDialog(screen, patterns.dialog);
  const draft = dialog ? undefined : patterns.draft(tail);
  const focus = dialog ? "dialog" : draft === undefined ? "unknown" : "composer";
  return { state: stateOf(screen, { patterns, tail, dialog, draft }), focus, draft };
}

/** The most pessimistic of lines and title wins. */
export function showsDialog(screen: Screen, marks: DialogMarks): boolean {
  return hasMark(tailOf(screen.lines), marks) || hasTitleMark(screen.title, marks);
}

export function hasMark(lines: readonly string[], marks: DialogMarks): boolean {
  const patterns = marks.lines.map((source) => new RegExp(source));
  return lines.some((line) => patterns.some((pattern) => pattern.test(line)));
}

export function hasTitleMark(title: string, marks: DialogMarks): boolean {
  return marks.titles.some((glob) => globPattern(glob).test(title));
}

function stateOf(
  screen: Screen,
  seen: { patterns: ScreenPatterns; tail: string[]; dialog: boolean; draft: string | undefined },
): AgentState | undefined {
  if (seen.dialog) return "waiting";
  const { working, workingTitle } = seen.patterns;
  const busy = working.some((pattern) => seen.tail.some((line) => pattern.test(line)));
  if (busy || workingTitle?.test(screen.title)) return "working";
  return seen.draft === undefined ? undefined : "idle";
}

/** `*` and `?` of fnmatch; `[` stands for itself, as the profiles' titles need it. */
function globPattern(glob: string): RegExp {
  const source = glob.replace(/[.+^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*").replaceAll("?", ".");
  return new RegExp(`^${source}$`, "s");
}
