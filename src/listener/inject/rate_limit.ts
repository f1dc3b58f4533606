/** The rate limit of a session: 30 messages a minute. */
import { TokenBuckets } from "../../async/token_bucket.ts";
import { INJECTIONS_PER_MINUTE } from "../../protocol/limits.ts";

export class SessionRateLimit {
  readonly #buckets = new TokenBuckets({
    perSecond: INJECTIONS_PER_MINUTE / 60,
    burst: INJECTIONS_PER_MINUTE,
  });
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Takes a token and returns 0, or takes none and returns the whole seconds until the next one. */
  take(session: string): number {
    return this.#buckets.take(session, this.#now());
  }
}
