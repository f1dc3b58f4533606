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

  /** Takes a token and returns 0, or returns the whole seconds until there is one. `now` is epoch milliseconds. */
  take(caller: string, now: number): number {
    const bucket = this.#filled(caller, now);
    if (bucket.tokens < 1) return Math.max(1, Math.ceil((1 - bucket.tokens) / this.#perSecond));
    bucket.tokens -= 1;
    return 0;
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
