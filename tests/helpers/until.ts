/** Waits for a condition instead of sleeping. */

import { inspect } from "node:util";

/** For what must happen sooner or later: a safety net for a broken system, not a measure of speed. */
export const SAFETY_LIMIT_MS = 180_000;

type Truthy<T> = Exclude<NonNullable<T>, false | 0 | "">;

/**
 * Resolves with the first truthy value of `probe`; throws after `limitMs` with `what` and the last value seen.
 */
export async function until<T>(
  what: string,
  probe: () => T | Promise<T>,
  limitMs = SAFETY_LIMIT_MS,
): Promise<Truthy<T>> {
  const end = Date.now() + limitMs;
  for (;;) {
    const value = await probe();
    if (value) return value as Truthy<T>;
    if (Date.now() > end) {
      throw new Error(`waited ${limitMs} ms for ${what}; last value: ${inspect(value)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
