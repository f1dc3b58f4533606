/** Waits for a condition instead of sleeping. */

import { inspect } from "node:util";

/** A limit for conditions that must hold sooner or later: it catches a broken system and does not measure speed. */
export const SAFETY_LIMIT_MS = 180_000;

/** Pause between two probes, in milliseconds: a tenth of the time waited so far, since a probe may start a process. */
const PAUSE_MIN_MS = 10;
const PAUSE_MAX_MS = 50;

type Truthy<T> = Exclude<NonNullable<T>, false | 0 | "">;

/**
 * Resolves with the first truthy value of `probe`; throws after `limitMs` with `what` and the last value seen.
 */
export async function until<T>(
  what: string,
  probe: () => T | Promise<T>,
  limitMs = SAFETY_LIMIT_MS,
): Promise<Truthy<T>> {
  const begun = Date.now();
  for (;;) {
    const value = await probe();
    if (value) return value as Truthy<T>;
    const waited = Date.now() - begun;
    if (waited > limitMs) {
      throw new Error(`waited ${limitMs} ms for ${what}; last value: ${inspect(value)}`);
    }
    const pause = Math.min(Math.max(waited / 10, PAUSE_MIN_MS), PAUSE_MAX_MS);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
