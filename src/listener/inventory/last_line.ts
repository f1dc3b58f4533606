/** The last line that an agent wrote, for the session's card on the phone. */
import type { ScreenReading } from "../../agents/profile.ts";

/** What fits on a card. */
export const LINE_MAX_CHARS = 120;
const WORD = /[\p{L}\p{N}]/u;
/** Frames, bullets and prompts before a line, and frames after it. */
const START = /^[\s─-╿▀-▟│❯›>●⏺✻✶✳✢·*]+/u;
const END = /[\s─-╿▀-▟│]/u;

/** What agents show about themselves: keys to press, the folder, what is above the screen. */
const HINT =
  /shift\+tab|ctrl[+-]|\besc\b|\btab to\b|\bf\d to\b|\? for |\/effort|\btip: |focus-events|↑ \d+ more|^[~/]\S*( |$)/i;

/** Above the composer, if there is one: what is in it was not written by the agent. Undefined without text. */
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
    return text.replace(/\s+/g, " ").slice(0, LINE_MAX_CHARS).toWellFormed();
  }
  return undefined;
}

function withoutEdges(line: string): string {
  let end = line.length;
  while (end > 0 && END.test(line.charAt(end - 1))) end--;
  return line.slice(0, end).replace(START, "");
}
