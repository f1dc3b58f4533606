/** Asks again until there is an answer, or until it is late. */
import { type Clock, delay } from "../client/clock.ts";

export interface Waiting {
  clock: Clock;
  /** How long to go on, in milliseconds. */
  limitMs: number;
  /** The pause between two probes, in milliseconds. */
  everyMs: number;
}

/** The first defined value of `probe`, or undefined once the limit has passed. */
export async function waitFor<T>(
  probe: () => Promise<T | undefined>,
  { clock, limitMs, everyMs }: Waiting,
): Promise<T | undefined> {
  const end = clock.elapsed() + limitMs;
  for (;;) {
    const found = await probe();
    if (found !== undefined || clock.elapsed() >= end) return found;
    await delay(everyMs, { clock });
  }
}
