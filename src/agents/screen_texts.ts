/** Finds texts on an agent's screen: the open dialog, the agent's last line, and the notice of a usage limit. */
import { lastRow } from "./composer.ts";
import { type CompiledMarks, TAIL_LINES } from "./read_screen.ts";
import type { ScreenReading } from "./profile.ts";

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

/** The dialog's first row: in a box, along a side bar or below a rule; else of the paragraphs around the first mark. */
function startOf(screen: readonly string[], { inLines }: Pick<CompiledMarks, "inLines">): number {
  const box = screen.findLastIndex((line) => BOX_TOP.test(line));
  if (box >= 0) return box + 1;
  if (BAR.test(screen.at(-1) ?? "")) return screen.findLastIndex((line) => !BAR.test(line)) + 1;
  const tail = Math.max(0, screen.length - TAIL_LINES);
  const first = Math.max(0, screen.findIndex((line, row) => row >= tail && inLines([line])));
  const rule = ruleAbove(screen, first);
  return rule >= 0 ? rule + 1 : questionStart(screen, first);
}

/** The last rule above row `first` with a question below it, or else the last rule; -1 without one. */
function ruleAbove(screen: readonly string[], first: number): number {
  const rules = screen.slice(0, first + 1).flatMap((line, row) => SOLID_RULE.test(line) ? [row] : []);
  return rules.findLast((row) => screen.slice(row).some((line) => line.includes("?"))) ?? rules.at(-1) ?? -1;
}

/** Where the paragraph of row `first` begins, or a paragraph above it, so that a question is included. */
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

export interface UsageLimit {
  /** The notice, which may stay on the screen after the limit has reset. */
  text: string;
  /** Epoch milliseconds, if the text gives a time. */
  resetsAt?: number;
}

const REACHED =
  /\b(?:hit|reached|exceeded)\b[^.]{0,40}\blimit\b|\b(?:usage|session|rate|weekly|daily|monthly|5-hour) limit (?:is )?(?:reached|hit|exceeded)\b/i;
const SPAN =
  /(?:resets?|try again|available again) in (?=\d)(?:(\d+) ?d(?:ays?)?,? ?)?(?:(\d+) ?h(?:ours?|rs?)?,? ?(?:and )?)?(?:(\d+) ?m(?:in(?:ute)?s?)?)?/i;
const TIME =
  /(?:resets?|try again|available again)(?: on| at)? (?:([A-Z][a-z]{2})[a-z]* (\d{1,2})(?:st|nd|rd|th)?,? ?(?:at )?)?(\d{1,2})(?::(\d{2}))? ?([ap]m)?/i;
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Limits without a date reset within hours: a time that is further away has just passed. */
const CLOCK_MAX_MS = 0.75 * DAY_MS;
/** The notice is among the last lines with text. */
const LAST_LINES = 20;
/** The time may be on one of the lines after the notice. */
const NOTICE_LINES = 3;

/** The last notice in `lines`: a screen from top to bottom, or a hook's text. Times are in this host's time zone. */
export function readUsageLimit(lines: readonly string[], now: number): UsageLimit | undefined {
  const last = lines.filter((line) => line.trim() !== "").slice(-LAST_LINES);
  const at = last.findLastIndex((line) => REACHED.test(line));
  if (at < 0) return undefined;
  const text = last.slice(at, at + NOTICE_LINES).map((line) => line.trim()).join(" ");
  const resetsAt = spanEnd(text, now) ?? clockTime(text, now);
  return { text: last[at]?.trim() ?? "", ...(resetsAt === undefined ? {} : { resetsAt }) };
}

function spanEnd(text: string, now: number): number | undefined {
  const [found, days = 0, hours = 0, minutes = 0] = SPAN.exec(text) ?? [];
  if (found === undefined) return undefined;
  return now + Number(days) * DAY_MS + Number(hours) * 60 * MINUTE_MS + Number(minutes) * MINUTE_MS;
}

function clockTime(text: string, now: number): number | undefined {
  const [found, month, day, hour = 0, minute = 0, half] = TIME.exec(text) ?? [];
  if (found === undefined) return undefined;
  const hours = half === undefined
    ? Number(hour)
    : Number(hour) % 12 + (half.toLowerCase() === "pm" ? 12 : 0);
  if (hours > 23 || Number(minute) > 59) return undefined;
  const date = new Date(now);
  date.setHours(hours, Number(minute), 0, 0);
  const index = MONTHS.indexOf(month?.toLowerCase() ?? "");
  if (index >= 0) {
    date.setMonth(index, Number(day));
    if (date.getTime() < now - DAY_MS) date.setFullYear(date.getFullYear() + 1);
    return date.getTime();
  }
  if (date.getTime() <= now) date.setDate(date.getDate() + 1);
  if (date.getTime() - now > CLOCK_MAX_MS) date.setDate(date.getDate() - 1);
  return date.getTime();
}

/** The longest line that fits on a card. */
export const LINE_MAX_CHARS = 120;
const WORD = /[\p{L}\p{N}]/u;
/** Frames, bullets and prompts before a line, and frames after it. */
const START = /^[\s─-╿▀-▟│❯›>●⏺✻✶✳✢·*]+/u;
const END = /[\s─-╿▀-▟│]/u;

/** Lines of an agent's own interface: keys to press, the folder, how much is above the screen. */
const HINT =
  /shift\+tab|ctrl[+-]|\besc\b|\btab to\b|\bf\d to\b|\? for |\/effort|\btip: |focus-events|↑ \d+ more|^[~/]\S*( |$)/i;

/** An answer that a dialog offers: the request above it says more. */
const CHOICE = /^\d+[.)]\s/;

/** The last line that the agent wrote, above the composer if there is one; undefined without text. */
export function lastLine(
  lines: readonly string[],
  { reading, cursorRow }: { reading: ScreenReading; cursorRow: number },
): string | undefined {
  const { focus, draft = "" } = reading;
  const above = focus === "composer" ? lines.slice(0, cursorRow) : lines;
  const typed = focus === "composer" ? draft : "";
  for (const line of above.toReversed()) {
    const text = withoutEdges(line);
    if (!WORD.test(text) || HINT.test(text) || (typed !== "" && typed.includes(text))) continue;
    if (focus === "dialog" && CHOICE.test(text)) continue;
    return text.replace(/\s+/g, " ").slice(0, LINE_MAX_CHARS).toWellFormed();
  }
  return undefined;
}

function withoutEdges(line: string): string {
  let end = line.length;
  while (end > 0 && END.test(line.charAt(end - 1))) end--;
  return line.slice(0, end).replace(START, "");
}
