/** The per-session rate limit (spec, section 8): a token bucket of 30 a minute. */
import { INJECTIONS_PER_MINUTE } from "../../protocol/limits.ts";

interface Bucket {
  tokens: number;
  at: number;
}

/** Buckets that are full again are forgotten above this number. */
const BUCKETS_MAX = 1_000;

export class SessionRateLimit {
  #buckets = new Map<string, Bucket>();
  #capacity: number;
  #now: () => number;

  constructor(now: () => number, perMinute: number = INJECTIONS_PER_MINUTE) {
    this.#now = now;
    this.#capacity = perMinute;
  }

  /** Takes a token and returns 0, or takes none and returns the whole seconds until the next one. */
  take(session: string): number {
    const now = this.#now();
    const bucket = this.#refilled(session, now);
    this.#buckets.set(session, bucket);
    if (this.#buckets.size > BUCKETS_MAX) this.#forgetFull(now);
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1;
      return 0;
    }
    return Math.max(1, Math.ceil((1 - bucket.tokens) * 60 / this.#capacity));
  }

  #refilled(session: string, now: number): Bucket {
    const bucket = this.#buckets.get(session) ?? { tokens: this.#capacity, at: now };
    const earned = Math.max(0, now - bucket.at) * this.#capacity / 60_000;
    return { tokens: Math.min(this.#capacity, bucket.tokens + earned), at: now };
  }

  #forgetFull(now: number): void {
    for (const session of this.#buckets.keys()) {
      if (this.#refilled(session, now).tokens >= this.#capacity) this.#buckets.delete(session);
    }
  }
}
