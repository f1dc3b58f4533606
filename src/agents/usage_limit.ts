/** Reads from an agent's screen or hook that its usage limit is reached, and when the limit resets. */

export interface UsageLimit {
  /** The text that said so: it may stay on the screen after the limit has reset. */
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

/** `lines`: the screen from top to bottom, or the text of a hook. Times are in this host's time zone. */
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
