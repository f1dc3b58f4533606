/** What one key or one socket may send, each kind of frame by a bucket of its own: whoever is over it is closed. */
import type { Clock } from "../async/clock.ts";
import type { EventName } from "../protocol/frames.ts";
import * as limits from "../protocol/limits.ts";
import { TokenBuckets, type TokenBucketsOptions } from "../async/token_bucket.ts";

/** Frames that a socket may send, by kind. Honest clients stay under a tenth of each. */
export const FRAME_RATES = {
  /** Frames with which a client keeps its connection alive. */
  ping: { perSecond: 20, burst: 200 },
  "push.ack": { perSecond: 500, burst: 5_000 },
  "listener.sessions": { perSecond: 20, burst: 100 },
  "pane.open": { perSecond: 20, burst: 200 },
  "pane.opened": { perSecond: 50, burst: 500 },
  "pane.closed": { perSecond: 50, burst: 500 },
  "pane.credit": { perSecond: 500, burst: 5_000 },
  "pane.scrollback": { perSecond: 10, burst: 100 },
  /** Binary frames of a phone. */
  keys: { perSecond: 1_000, burst: 4_000 },
  /** Binary frames of a listener, which are bound by what phones have read. */
  pane: { perSecond: 20_000, burst: 60_000 },
  /** Events that this relay does not know or does not take, and frames that could not be read. */
  other: { perSecond: 50, burst: 1_000 },
} as const satisfies Record<string, TokenBucketsOptions>;

export type FrameKind = keyof typeof FRAME_RATES;

export function frameKind(event: EventName | undefined): FrameKind {
  if (event === "ping" || event === "pong") return "ping";
  return event !== undefined && Object.hasOwn(FRAME_RATES, event) ? event as FrameKind : "other";
}

/** One socket's. */
export class FrameBudget {
  readonly #clock: Pick<Clock, "elapsed">;
  readonly #buckets = new Map<FrameKind, TokenBuckets>();

  constructor(clock: Pick<Clock, "elapsed">) {
    this.#clock = clock;
  }

  /** False when the socket sent more of them than it may. */
  take(kind: FrameKind): boolean {
    const bucket = this.#buckets.get(kind) ?? new TokenBuckets(FRAME_RATES[kind]);
    this.#buckets.set(kind, bucket);
    return bucket.take("", this.#clock.elapsed()) === 0;
  }
}

const DAY_SECONDS = 86_400;

/** By key, or by address for what needs none; what is spent comes back with time. */
export interface Budgets {
  openBytes: TokenBuckets;
  inventories: TokenBuckets;
  inventoryBytes: TokenBuckets;
  keyBytes: TokenBuckets;
  storedBytes: TokenBuckets;
  pageBytes: TokenBuckets;
}

export function makeBudgets(): Budgets {
  const of = (perSecond: number, burst: number): TokenBuckets => new TokenBuckets({ perSecond, burst });
  return {
    openBytes: of(limits.OPEN_BYTES_PER_SECOND, limits.OPEN_BYTES_BURST),
    inventories: of(limits.INVENTORIES_PER_SECOND, limits.INVENTORIES_BURST),
    inventoryBytes: of(limits.INVENTORY_BYTES_PER_SECOND, limits.INVENTORY_BYTES_BURST),
    keyBytes: of(limits.KEY_BYTES_PER_SECOND, limits.KEY_BYTES_BURST),
    storedBytes: of(limits.STORED_PER_DAY_MAX_BYTES / DAY_SECONDS, limits.STORED_PER_DAY_MAX_BYTES),
    pageBytes: of(limits.PAGE_BYTES_PER_SECOND, limits.PAGE_BYTES_BURST),
  };
}
