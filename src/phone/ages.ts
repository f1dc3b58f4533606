/** Spans and moments of time in the words of the page. */
import { STRINGS } from "./strings.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** `just now`, `4 min`, `3 h`, `2 days`. A negative span, from clocks that differ, is just now. */
export function ageWords(ms: number): string {
  const { ages } = STRINGS;
  if (ms < MINUTE_MS) return ages.now;
  if (ms < HOUR_MS) return ages.minutes(Math.floor(ms / MINUTE_MS));
  if (ms < DAY_MS) return ages.hours(Math.floor(ms / HOUR_MS));
  return ages.days(Math.floor(ms / DAY_MS));
}

/** `just now`, `4 min ago`. */
export function agoWords(ms: number): string {
  const age = ageWords(ms);
  return ms < MINUTE_MS ? age : STRINGS.ages.ago(age);
}

/** `14:03`, or with the date when that is another day. */
export function momentWords(epochMs: number, nowMs: number): string {
  const date = new Date(epochMs);
  const time = date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  const isToday = date.toDateString() === new Date(nowMs).toDateString();
  return isToday ? time : `${date.toLocaleDateString([], { day: "numeric", month: "short" })}, ${time}`;
}
