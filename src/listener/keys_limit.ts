/** The rate limit of keys: a token bucket; what is beyond it waits its turn. */
import { KEYS_PER_SECOND } from "../protocol/limits.ts";

/** A paste counts as so many keys. */
export const PASTE_COST = 20;

export class KeyLimit {
  #tokens: number = KEYS_PER_SECOND;
  #at: number;

  constructor(now: number) {
    this.#at = now;
  }

  /** Takes `cost` tokens and returns 0, or takes none and returns the milliseconds until some are there. */
  take(cost: number, now: number): number {
    const earned = Math.max(0, now - this.#at) * KEYS_PER_SECOND / 1_000;
    this.#tokens = Math.min(KEYS_PER_SECOND, this.#tokens + earned);
    this.#at = now;
    if (this.#tokens < 1) return Math.ceil((1 - this.#tokens) * 1_000 / KEYS_PER_SECOND);
    this.#tokens -= cost;
    return 0;
  }
}
