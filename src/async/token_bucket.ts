/** Rate limits: a token bucket, and one for each of many keys. Times are milliseconds of a clock of the caller's. */

export interface TokenRate {
  perSecond: number;
  /** What a full bucket holds; a new one is full. */
  burst: number;
}

export class TokenBucket {
  readonly #perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #at: number;

  constructor({ perSecond, burst }: TokenRate, now: number) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#tokens = burst;
    this.#at = now;
  }

  /** Takes the tokens and returns 0, or takes none and returns the seconds until they are there. */
  take(now: number, amount = 1): number {
    const wait = this.secondsUntil(now, amount);
    if (wait === 0) this.#tokens -= amount;
    return wait;
  }

  /** Takes the tokens even when there are too few, for a cost that is known only afterwards. */
  charge(now: number, amount: number): void {
    this.#refill(now);
    this.#tokens -= amount;
  }

  /** Seconds until there are so many tokens; 0 when they are there. */
  secondsUntil(now: number, amount: number): number {
    this.#refill(now);
    return this.#tokens >= amount ? 0 : (amount - this.#tokens) / this.#perSecond;
  }

  /** A clock that was set back earns nothing. */
  #refill(now: number): void {
    const earned = Math.max(0, now - this.#at) / 1_000 * this.#perSecond;
    this.#tokens = Math.min(this.#burst, this.#tokens + earned);
    this.#at = now;
  }
}

export interface TokenBucketsOptions extends TokenRate {
  /** Buckets kept; beyond it the one used longest ago is forgotten. */
  keys?: number;
}

const KEYS_MAX = 10_000;

export class TokenBuckets {
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #rate: TokenRate;
  readonly #keys: number;

  constructor({ perSecond, burst, keys = KEYS_MAX }: TokenBucketsOptions) {
    this.#rate = { perSecond, burst };
    this.#keys = keys;
  }

  /** Takes the tokens and returns 0, or takes none and returns the whole seconds until they are there, for Retry-After. */
  take(key: string, now: number, amount = 1): number {
    return Math.ceil(this.#of(key, now).take(now, amount));
  }

  /** Takes the tokens even when there are too few, for a cost that is known only afterwards. */
  charge(key: string, now: number, amount: number): void {
    this.#of(key, now).charge(now, amount);
  }

  #of(key: string, now: number): TokenBucket {
    const bucket = this.#buckets.get(key) ?? new TokenBucket(this.#rate, now);
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > this.#keys && oldest !== undefined) this.#buckets.delete(oldest);
    return bucket;
  }
}
