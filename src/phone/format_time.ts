/** Durations, times and numbers as the page writes them. */
import { STRINGS } from "./strings.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** `just now`, `4 min`, `3 h`, `2 days`. A negative duration, from clocks that differ, is "just now". */
export function formatAge(ms: number): string {
  const { ages } = STRINGS;
  if (ms < MINUTE_MS) return ages.now;
  if (ms < HOUR_MS) return ages.minutes(Math.floor(ms / MINUTE_MS));
  if (ms < DAY_MS) return ages.hours(Math.floor(ms / HOUR_MS));
  return ages.days(Math.floor(ms / DAY_MS));
}

/** `just now`, `4 min ago`. */
export function formatAgo(ms: number): string {
  const age = formatAge(ms);
  return ms < MINUTE_MS ? age : STRINGS.ages.ago(age);
}

/** What is left to wait, rounded up: `6 s`, `4 min`, `1 h`. */
export function formatWait(ms: number): string {
  if (ms < 2 * MINUTE_MS) return `${Math.ceil(ms / SECOND_MS)} s`;
  return formatAge(Math.ceil(ms / MINUTE_MS) * MINUTE_MS);
}

/** `14:03`, with the date if it is not today; `-` for zero, and for a number that no calendar has: a host may report any. */
export function formatTime(epochMs: number, nowMs: number): string {
  const date = new Date(epochMs);
  if (!+date) return "-";
  const { clock, day } = formats();
  const time = clock.format(date);
  const isToday = date.toDateString() === new Date(nowMs).toDateString();
  return isToday ? time : `${day.format(date)}, ${time}`;
}

/** `16,384`, or `16.384` in German, where a comma would start the fraction. */
export function formatNumber(number: number): string {
  return number.toLocaleString(localeOf(STRINGS.code));
}

/** Cached: creating a formatter takes longer than the rest of a message's bubble. */
let made: { code: string; clock: Intl.DateTimeFormat; day: Intl.DateTimeFormat } | undefined;

/** The browser's variant of the page's language, such as `de-CH`, if it has one, else the plain code. */
function localeOf(code: string): string {
  return navigator.languages.find((one) => one.toLowerCase().split("-")[0] === code) ?? code;
}

function formats(): NonNullable<typeof made> {
  const { code } = STRINGS;
  if (made?.code === code) return made;
  const locale = localeOf(code);
  const of = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, options);
  return made = {
    code,
    clock: of({ hour: "2-digit", minute: "2-digit" }),
    day: of({ day: "numeric", month: "short" }),
  };
}
