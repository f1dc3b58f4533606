/** When a message is typed that is not typed at once: what can be chosen, and how long it may wait. */
import type { Later } from "../protocol/later.ts";
import { TTL_MAX_SECONDS } from "../protocol/limits.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** After its time, a message may wait this long for its host or for a dialog. */
const AFTER_MS = HOUR_MS;
const MORNING_HOUR = 8;

/** The furthest time that can be chosen: the message must not expire before it. */
export const LATER_MAX_MS = TTL_MAX_SECONDS * 1_000 - AFTER_MS - 60_000;

export interface SendOptions {
  /** Type it even while the local user types. */
  sendAnyway?: boolean;
  later?: Later;
  /** When the agent's usage limit resets, if that is known. */
  resetsAt?: number | undefined;
}

/** A message that waits for the agent waits for a day, or until an hour after its limit resets. `now`: the relay's clock. */
export function laterTtlSeconds(
  later: Later,
  { now, resetsAt }: { now: number; resetsAt?: number | undefined },
): number {
  const until = later.kind === "at"
    ? later.at + AFTER_MS
    : Math.max(now + DAY_MS, later.kind === "reset" && resetsAt !== undefined ? resetsAt + AFTER_MS : 0);
  return Math.min(TTL_MAX_SECONDS, Math.max(60, Math.ceil((until - now) / 1_000)));
}

/** In an hour, and tomorrow morning; by this device's clock. */
export function suggestedTimes(now: number): number[] {
  const morning = new Date(now);
  morning.setHours(MORNING_HOUR, 0, 0, 0);
  if (morning.getTime() <= now + HOUR_MS) morning.setDate(morning.getDate() + 1);
  return [now + HOUR_MS, morning.getTime()];
}

/** The value of a field for date and time, in this device's time zone. */
export function fieldTime(epochMs: number): string {
  const local = new Date(epochMs - new Date(epochMs).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}
