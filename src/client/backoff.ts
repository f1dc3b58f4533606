/** Exponential backoff with full jitter, so that clients do not all reconnect at once. */
import { backoffMs } from "../async/retry.ts";
import { BACKOFF_CALM_MS, BACKOFF_MAX_MS, BACKOFF_MIN_MS } from "../protocol/limits.ts";

/** The first delay is at most 0.25 s; its bound doubles up to 30 s. */
export const RELAY_BACKOFF = { minMs: BACKOFF_MIN_MS, maxMs: BACKOFF_MAX_MS };

/** The delay before retry number `attempt`, in whole milliseconds; `random` is in [0, 1). */
export function backoffDelayMs(attempt: number, random: number): number {
  return backoffMs(attempt, { ...RELAY_BACKOFF, random: () => random });
}

/** The retry count after a connection that lasted `lastedMs` (0 if it never opened): a calm period resets it. */
export function attemptsAfter(attempts: number, lastedMs: number): number {
  return lastedMs >= BACKOFF_CALM_MS ? 0 : attempts;
}
