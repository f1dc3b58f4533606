/** A token bucket per caller. */

export interface RateLimitOptions {
  perSecond: number;
  burst: number;
  /** Buckets kept; beyond it the one used longest ago is forgotten. */
  callers?: number;
}

interface Bucket {
  tokens: number;
  at: number;
}

const CALLERS_MAX = 10_000;

export class RateLimit {
  readonly #buckets = new Map<string, Bucket>();
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #callers: number;

  constructor({ perSecond, burst, callers = CALLERS_MAX }: RateLimitOptions) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#callers = callers;
  }

  /** Takes so many tokens and returns 0, or returns the whole seconds until they are there. `now` is in milliseconds. */
  take(caller: string, now: number, amount = 1): number {
    const bucket = this.#filled(caller, now);
    if (bucket.tokens < amount) return Math.max(1, Math.ceil((amount - bucket.tokens) / this.#perSecond));
    bucket.tokens -= amount;
    return 0;
  }

  /** Takes them also where there are too few: for what is known only after it was given. */
  charge(caller: string, now: number, amount: number): void {
    this.#filled(caller, now).tokens -= amount;
  }

  #filled(caller: string, now: number): Bucket {
    const old = this.#buckets.get(caller) ?? { tokens: this.#burst, at: now };
    // A clock that was set back earns nothing.
    const earned = Math.max(0, now - old.at) / 1000 * this.#perSecond;
    const bucket = { tokens: Math.min(this.#burst, old.tokens + earned), at: now };
    this.#buckets.delete(caller);
    this.#buckets.set(caller, bucket);
    if (this.#buckets.size > this.#callers) this.#forgetOldest();
    return bucket;
  }

  #forgetOldest(): void {
    for (const caller of this.#buckets.keys()) {
      this.#buckets.delete(caller);
      return;
    }
  }
}
