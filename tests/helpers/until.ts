/** Waits for a condition instead of sleeping. */

/**
 * Resolves with the first truthy value of `probe`; throws after `limitMs` with `what` and the last value seen.
 * The limit is a safety net for a broken system, never a measure of speed.
 */
export async function until<T>(
  what: string,
  probe: () => T | Promise<T>,
  limitMs = 20_000,
): Promise<NonNullable<T>> {
  const end = Date.now() + limitMs;
  for (;;) {
    const value = await probe();
    if (value) return value as NonNullable<T>;
    if (Date.now() > end) {
      throw new Error(`waited ${limitMs} ms for ${what}; last value: ${Deno.inspect(value)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
