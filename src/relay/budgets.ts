/** The rate limits of the relay, by key, address or socket, and how its nodes share them. */
import { TokenBuckets, type TokenRate } from "../async/token_bucket.ts";
import type { EventName } from "../protocol/frames.ts";
import * as limits from "../protocol/limits.ts";
import type { Clock } from "../async/clock.ts";
import { type Bus, EVERY_NODE } from "../bus/bus.ts";
import { counter } from "./metrics.ts";

export const OVER_BUDGET = counter(
  "svc_over_budget_total",
  "Refusals and closed connections because a sender exceeded a limit, by limit.",
);

/** Frames that a key may send, by kind; the socket that exceeds one is closed. Normal clients stay under a tenth of each. */
export const FRAME_RATES = {
  /** Keep-alive frames. */
  ping: { perSecond: 200, burst: 2_000 },
  "push.ack": { perSecond: 1_000, burst: 5_000 },
  "listener.sessions": { perSecond: 20, burst: 100 },
  "pane.open": { perSecond: 20, burst: 200 },
  "pane.opened": { perSecond: 50, burst: 500 },
  "pane.closed": { perSecond: 50, burst: 500 },
  "pane.credit": { perSecond: 500, burst: 5_000 },
  "pane.scrollback": { perSecond: 10, burst: 100 },
  /** A phone's binary frames. */
  keys: { perSecond: 1_000, burst: 4_000 },
  /** A listener's binary frames, which are also limited by the credit that phones grant. */
  pane: { perSecond: 20_000, burst: 60_000 },
  /** Unknown or unexpected events, and malformed frames. */
  other: { perSecond: 50, burst: 1_000 },
} as const satisfies Record<string, TokenRate>;

export type FrameKind = keyof typeof FRAME_RATES;

export function frameKind(event: EventName | undefined): FrameKind {
  if (event === "ping" || event === "pong") return "ping";
  return event !== undefined && Object.hasOwn(FRAME_RATES, event) ? event as FrameKind : "other";
}

/** Limits per key, or per address where no key is needed. All times are the clock's `elapsed`. */
export interface Budgets {
  /** Requests and handshakes, per key. */
  requests: TokenBuckets;
  /** The requests that each key has left while the relay is overloaded. */
  overload: TokenBuckets;
  /** Refusals that a key gets at once; further ones are delayed. */
  refusals: TokenBuckets;
  /** Wrong pairing codes, per address. */
  claims: TokenBuckets;
  /** Bytes of answers that need no key, per address. */
  openBytes: TokenBuckets;
  /** Frames of all sockets of a key together: neither more sockets nor reconnecting allows more. */
  frames: Record<FrameKind, TokenBuckets>;
  textBytes: TokenBuckets;
  inventories: TokenBuckets;
  inventoryBytes: TokenBuckets;
  keyBytes: TokenBuckets;
  pageBytes: TokenBuckets;
}

interface BudgetOptions {
  /** Overrides the limit on requests. */
  requests?: TokenRate | undefined;
  /** Other nodes share the limits: see `shareBudgets`. */
  shared?: boolean;
}

export function makeBudgets({ requests, shared = false }: BudgetOptions = {}): Budgets {
  const of = (perSecond: number, burst: number): TokenBuckets =>
    new TokenBuckets({ perSecond, burst, shared });
  const frames = Object.entries(FRAME_RATES).map(([kind, rate]) => [kind, of(rate.perSecond, rate.burst)]);
  return {
    requests: requests === undefined
      ? of(limits.HTTP_REQUESTS_PER_SECOND, limits.HTTP_REQUESTS_BURST)
      : of(requests.perSecond, requests.burst),
    overload: new TokenBuckets(overloadRate(requests)),
    refusals: new TokenBuckets({ perSecond: limits.REFUSALS_PER_SECOND, burst: limits.REFUSALS_BURST }),
    claims: of(limits.WRONG_CLAIMS_PER_MINUTE / 60, limits.WRONG_CLAIMS_BURST),
    openBytes: of(limits.OPEN_BYTES_PER_SECOND, limits.OPEN_BYTES_BURST),
    frames: Object.fromEntries(frames),
    textBytes: of(limits.TEXT_BYTES_PER_SECOND, limits.TEXT_BYTES_BURST),
    inventories: of(limits.INVENTORIES_PER_SECOND, limits.INVENTORIES_BURST),
    inventoryBytes: of(limits.INVENTORY_BYTES_PER_SECOND, limits.INVENTORY_BYTES_BURST),
    keyBytes: of(limits.KEY_BYTES_PER_SECOND, limits.KEY_BYTES_BURST),
    pageBytes: of(limits.PAGE_BYTES_PER_SECOND, limits.PAGE_BYTES_BURST),
  };
}

/** In proportion to the limit on requests, if a relay overrides that. */
function overloadRate(requests: TokenRate | undefined): TokenRate {
  const { OVERLOAD_REQUESTS_PER_SECOND: perSecond, OVERLOAD_REQUESTS_BURST: burst } = limits;
  if (requests === undefined) return { perSecond, burst };
  return {
    perSecond: requests.perSecond * perSecond / limits.HTTP_REQUESTS_PER_SECOND,
    burst: requests.burst * burst / limits.HTTP_REQUESTS_BURST,
  };
}

/** How often nodes report. Until then a key may take a full bucket from each node; the excess is owed. */
export const REPORT_MS = 500;
/** Maximum entries of one message. */
const ENTRIES_MAX = 2_000;

interface SharedBudgets {
  budgets: Budgets;
  bus: Bus;
  clock: Clock;
}

/** Deducts what other nodes report. Returns the function that stops it. */
export function shareBudgets({ budgets, bus, clock }: SharedBudgets): () => void {
  const tables = new Map(tablesOf(budgets));
  return bus.subscribe(EVERY_NODE, (message) => {
    if (message.kind !== "spent" || message.node === bus.node) return;
    for (const [budget, key, amount] of message.taken) {
      tables.get(budget)?.apply([[key, amount]], clock.elapsed());
    }
  });
}

/** Reports what was taken here to the other nodes; called every `REPORT_MS`. Small amounts are not reported yet. */
export function reportBudgets({ budgets, bus }: Omit<SharedBudgets, "clock">): void {
  const all = tablesOf(budgets).flatMap(([budget, table]) =>
    table.takeReport().map(([key, amount]) => [budget, key, amount] as const)
  );
  for (let start = 0; start < all.length; start += ENTRIES_MAX) {
    const taken = all.slice(start, start + ENTRIES_MAX);
    bus.publish(EVERY_NODE, { kind: "spent", node: bus.node, taken });
  }
}

function tablesOf({ frames, ...others }: Budgets): [string, TokenBuckets][] {
  const ofFrames = Object.entries(frames).map(([kind, table]): [string, TokenBuckets] => [
    `frames.${kind}`,
    table,
  ]);
  return [...Object.entries(others), ...ofFrames];
}
