/** Rate limits: one token bucket, or one for each of many keys. `now` is in milliseconds, from any clock. */

export interface TokenRate {
  perSecond: number;
  /** The capacity of a bucket; a new one is full. */
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

  /** Takes the tokens and returns 0, or takes none and returns the seconds until there are enough. */
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

  /** Seconds until there are `amount` tokens; 0 if there are. */
  secondsUntil(now: number, amount: number): number {
    this.#refill(now);
    return this.#tokens >= amount ? 0 : (amount - this.#tokens) / this.#perSecond;
  }

  isFull(now: number): boolean {
    this.#refill(now);
    return this.#tokens >= this.#burst;
  }

  /** Earns nothing when the clock was set back. */
  #refill(now: number): void {
    const earned = Math.max(0, now - this.#at) / 1_000 * this.#perSecond;
    this.#tokens = Math.min(this.#burst, this.#tokens + earned);
    this.#at = now;
  }
}

interface TokenBucketsOptions extends TokenRate {
  /** The largest number of buckets kept. */
  keys?: number;
  /** Other processes enforce the same limit: what is taken here is collected for a report to them. */
  shared?: boolean;
}

const KEYS_MAX = 10_000;
/** The share of a full bucket that is taken before it is reported to other processes. */
const REPORTED_PART = 1 / 20;
/** How often a full table is searched for buckets that can be forgotten, in milliseconds. */
const SWEEP_MS = 1_000;

export class TokenBuckets {
  readonly #buckets = new Map<string, TokenBucket>();
  /** Shared by all keys that are not in the table. */
  readonly #shared: TokenBucket;
  readonly #rate: TokenRate;
  readonly #keys: number;
  /** Tokens taken, by key; undefined unless the limit is shared. */
  readonly #unreported: Map<string, number> | undefined;
  #sweptAt = -Infinity;

  constructor({ perSecond, burst, keys = KEYS_MAX, shared = false }: TokenBucketsOptions) {
    this.#unreported = shared ? new Map() : undefined;
    this.#rate = { perSecond, burst };
    this.#shared = new TokenBucket(this.#rate, 0);
    this.#keys = keys;
  }

  /** Like TokenBucket.take, in whole seconds for Retry-After. */
  take(key: string, now: number, amount = 1): number {
    const wait = Math.ceil(this.#of(key, now).take(now, amount));
    if (wait === 0) this.#collect(key, amount);
    return wait;
  }

  /** Whole seconds until `take` would return 0; takes nothing. */
  secondsUntil(key: string, now: number, amount = 1): number {
    return Math.ceil(this.#of(key, now).secondsUntil(now, amount));
  }

  /** Takes the tokens even when there are too few, for a cost that is known only afterwards. */
  charge(key: string, now: number, amount: number): void {
    this.#of(key, now).charge(now, amount);
    this.#collect(key, amount);
  }

  /** Returns and clears the tokens taken for each key since its last report, if they are worth reporting. */
  takeReport(): [string, number][] {
    const all = this.#unreported ?? new Map<string, number>();
    const isFull = all.size >= this.#keys;
    const report = [...all].filter(([, amount]) => isFull || amount >= this.#rate.burst * REPORTED_PART);
    for (const [key] of report) all.delete(key);
    return report;
  }

  /** Charges what another process reported, even when there are too few tokens. */
  apply(report: readonly (readonly [string, number])[], now: number): void {
    for (const [key, amount] of report) this.#of(key, now).charge(now, amount);
  }

  #collect(key: string, amount: number): void {
    const all = this.#unreported;
    if (all === undefined || amount === 0 || all.size >= this.#keys && !all.has(key)) return;
    all.set(key, (all.get(key) ?? 0) + amount);
  }

  /** Forgets only full buckets: a caller that fills the table must not get its own bucket back as a full one. */
  #of(key: string, now: number): TokenBucket {
    const known = this.#buckets.get(key);
    if (known !== undefined) return known;
    if (this.#buckets.size >= this.#keys) this.#forgetFull(now);
    if (this.#buckets.size >= this.#keys) return this.#shared;
    const made = new TokenBucket(this.#rate, now);
    this.#buckets.set(key, made);
    return made;
  }

  #forgetFull(now: number): void {
    if (Math.abs(now - this.#sweptAt) < SWEEP_MS) return;
    this.#sweptAt = now;
    for (const [key, bucket] of this.#buckets) if (bucket.isFull(now)) this.#buckets.delete(key);
  }
}
