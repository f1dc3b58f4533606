/** Exponential backoff with full jitter, so that clients do not all reconnect at once. */
import { BACKOFF_CALM_MS, BACKOFF_MAX_MS, BACKOFF_MIN_MS } from "../protocol/limits.ts";

/** The longest delay before retry number `attempt` (from 0): 0.25 s, doubling up to 30 s. */
export function backoffCeilingMs(attempt: number): number {
  return Math.min(BACKOFF_MAX_MS, BACKOFF_MIN_MS * 2 ** Math.min(attempt, 30));
}

/** The delay before retry number `attempt`, in whole milliseconds; `random` is in [0, 1). */
export function backoffDelayMs(attempt: number, random: number): number {
  return Math.floor(random * backoffCeilingMs(attempt));
}

/** The retry count after a connection that lasted `lastedMs` (0 if it never opened): a calm period resets it. */
export function attemptsAfter(attempts: number, lastedMs: number): number {
  return lastedMs >= BACKOFF_CALM_MS ? 0 : attempts;
}
