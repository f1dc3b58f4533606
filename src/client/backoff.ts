/** How long to wait before the next connection: full jitter, so that clients spread their return. */
import { BACKOFF_CALM_MS, BACKOFF_MAX_MS, BACKOFF_MIN_MS } from "../protocol/limits.ts";

/** The longest wait before try number `attempt` (from 0): 0.25 s, doubled each time, up to 30 s. */
export function backoffCeilingMs(attempt: number): number {
  return Math.min(BACKOFF_MAX_MS, BACKOFF_MIN_MS * 2 ** Math.min(attempt, 30));
}

/** The wait before try number `attempt`, in whole milliseconds; `random` is in [0, 1). */
export function backoffDelayMs(attempt: number, random: number): number {
  return Math.floor(random * backoffCeilingMs(attempt));
}

/** Tries to count on after a connection that lasted `lastedMs` (0 when it never stood): calm forgives them all. */
export function attemptsAfter(attempts: number, lastedMs: number): number {
  return lastedMs >= BACKOFF_CALM_MS ? 0 : attempts;
}
