/** The text of an open dialog, as a phone shows it: taken from the screen, without frames and the output above it. */
import { lastRow } from "./composer.ts";
import { type CompiledMarks, TAIL_LINES } from "./read_screen.ts";

/** Longer dialogs lose their beginning: the question and the answers are at the end. */
export const DIALOG_LINES_MAX = 40;
export const DIALOG_MAX_CHARS = 4_000;
/** Without a frame, the question may begin this many lines above the first line that shows the dialog. */
const QUESTION_LINES = 15;

// Two tests: one pattern for both takes time in proportion to the cube of a line's length.
const RULE_PARTS = /^[\s╭╰├└┌╮╯┤┘┐─━═╌╍┄┅]*$/u;
const RULE_RUN = /[─━═╌╍┄┅]{8}/u;
const SOLID_RULE = /^\s*[─━═]{20,}\s*$/u;
const BOX_TOP = /^\s*[╭┌]─{8,}/u;
const BAR = /^\s*┃/u;
const LEFT_FRAME = /^\s*[│┃] ?/u;
const RIGHT_FRAME = /[│┃]$/u;

export function dialogText(lines: readonly string[], marks: Pick<CompiledMarks, "inLines">): string {
  const end = lastRow(lines) + 1;
  const screen = lines.slice(Math.max(0, end - DIALOG_LINES_MAX), end);
  const inner = screen.slice(startOf(screen, marks)).map(withoutFrame);
  const text = dedent(inner.filter((line) => !isRule(line)).map(withoutFrame));
  return text.join("\n").replace(/\n{3,}/g, "\n\n").replace(/^\n+|\n+$/g, "").slice(-DIALOG_MAX_CHARS)
    .toWellFormed();
}

function withoutFrame(line: string): string {
  return line.replace(LEFT_FRAME, "").trimEnd().replace(RIGHT_FRAME, "").trimEnd();
}

function isRule(line: string): boolean {
  return RULE_PARTS.test(line) && RULE_RUN.test(line);
}

/** A box, a rule, or a bar at the side; else the paragraphs around the first line that only a dialog has. */
function startOf(screen: readonly string[], { inLines }: Pick<CompiledMarks, "inLines">): number {
  const box = screen.findLastIndex((line) => BOX_TOP.test(line));
  if (box >= 0) return box + 1;
  if (BAR.test(screen.at(-1) ?? "")) return screen.findLastIndex((line) => !BAR.test(line)) + 1;
  const tail = Math.max(0, screen.length - TAIL_LINES);
  const first = Math.max(0, screen.findIndex((line, row) => row >= tail && inLines([line])));
  const rule = ruleAbove(screen, first);
  return rule >= 0 ? rule + 1 : questionStart(screen, first);
}

/** The last rule above the line `first`, or the one before that if nothing below it asks. */
function ruleAbove(screen: readonly string[], first: number): number {
  const rules = screen.slice(0, first + 1).flatMap((line, row) => SOLID_RULE.test(line) ? [row] : []);
  return rules.findLast((row) => screen.slice(row).some((line) => line.includes("?"))) ?? rules.at(-1) ?? -1;
}

/** The paragraph of the line `first`, and those above it until one asks something. */
function questionStart(screen: readonly string[], first: number): number {
  const isBlank = (row: number): boolean => (screen[row] ?? "").trim() === "";
  let start = first;
  while (start > 0 && !isBlank(start - 1)) start--;
  const asks = (row: number): boolean => screen.slice(row).some((line) => line.includes("?"));
  while (!asks(start) && start > 0 && first - start < QUESTION_LINES) {
    start--;
    while (start > 0 && !isBlank(start - 1)) start--;
  }
  return start;
}

function dedent(lines: readonly string[]): string[] {
  const margins = lines.filter((line) => line.trim() !== "").map((line) => /^ */.exec(line)?.[0].length ?? 0);
  const margin = Math.min(...margins);
  return lines.map((line) => line.slice(Number.isFinite(margin) ? margin : 0));
}
