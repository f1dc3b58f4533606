/** Waits for a condition instead of sleeping. */

import { inspect } from "node:util";

type Truthy<T> = Exclude<NonNullable<T>, false | 0 | "">;

/**
 * Resolves with the first truthy value of `probe`; throws after `limitMs` with `what` and the last value seen.
 * The limit is a safety net for a broken system, not a measure of speed.
 */
export async function until<T>(
  what: string,
  probe: () => T | Promise<T>,
  limitMs = 60_000,
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
