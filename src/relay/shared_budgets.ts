/** Rate limits over all nodes: each node reports what was taken from its buckets, and the others take as much from theirs. */
import type { Clock } from "../async/clock.ts";
import type { TokenBuckets } from "../async/token_bucket.ts";
import { type Bus, EVERY_NODE } from "../bus/bus.ts";
import type { Budgets } from "./budgets.ts";

/** Until a report has arrived, a key may take a full bucket from each node; what was too much is owed. */
export const REPORT_MS = 500;
/** Entries of one message. */
const ENTRIES_MAX = 2_000;

interface SharedBudgets {
  budgets: Budgets;
  bus: Bus;
  clock: Clock;
}

/** Takes what other nodes report. Returns how to stop. */
export function shareBudgets({ budgets, bus, clock }: SharedBudgets): () => void {
  const tables = new Map(tablesOf(budgets));
  return bus.subscribe(EVERY_NODE, (message) => {
    if (message.kind !== "spent" || message.node === bus.node) return;
    for (const [budget, key, amount] of message.taken) {
      tables.get(budget)?.apply([[key, amount]], clock.elapsed());
    }
  });
}

/** Called every `REPORT_MS`. While nobody takes much there is nothing to report. */
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
