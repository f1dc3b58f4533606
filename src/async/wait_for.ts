/** Polls until there is a value, or until the time is up. */
import { type Clock, delay } from "./clock.ts";

export interface WaitForOptions {
  clock: Pick<Clock, "elapsed" | "after">;
  /** How long to poll, in milliseconds. */
  limitMs: number;
  /** The pause between two polls, in milliseconds. */
  everyMs: number;
}

/** The first defined value of `probe`, or undefined once the limit has passed. */
export async function waitFor<T>(
  probe: () => Promise<T | undefined>,
  { clock, limitMs, everyMs }: WaitForOptions,
): Promise<T | undefined> {
  const end = clock.elapsed() + limitMs;
  for (;;) {
    const found = await probe();
    if (found !== undefined || clock.elapsed() >= end) return found;
    await delay(everyMs, { clock });
  }
}
