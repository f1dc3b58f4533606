/** In any order of acknowledgements a receipt only moves forward and never leaves a final state. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { PUSH_STATES, type Receipt } from "../../../src/protocol/receipt.ts";
import {
  acknowledged,
  type Acknowledgement,
  deliveredReceipt,
  ended,
  queuedReceipt,
} from "../../../src/relay/receipts.ts";

const acks = fc.array(fc.record({
  outcome: fc.constantFrom(...PUSH_STATES),
  final: fc.boolean(),
  reason: fc.option(fc.constantFrom("dialog_open", "rate_limited"), { nil: undefined }),
  retryAfterSeconds: fc.option(fc.nat(60), { nil: undefined }),
}));

/** Returns every receipt along the way, including the first. */
function way(given: readonly Acknowledgement[]): Receipt[] {
  const receipts = [queuedReceipt(0)];
  for (const [index, ack] of given.entries()) {
    const last = receipts.at(-1) ?? queuedReceipt(0);
    receipts.push(acknowledged(last, ack, index + 1) ?? last);
  }
  return receipts;
}

const RANK: readonly string[] = ["queued", "delivered", "held", "typed"];
const rank = (state: string): number => RANK.includes(state) ? RANK.indexOf(state) : RANK.length;

Deno.test("a receipt never goes back and never leaves a final state [rcpt-path, rcpt-ends]", () => {
  fc.assert(fc.property(acks, (given) => {
    const receipts = way(given);
    for (const [index, next] of receipts.slice(1).entries()) {
      const last = receipts[index] ?? next;
      if (last.final) assert.equal(next, last);
      assert.ok(rank(next.state) >= rank(last.state));
    }
  }));
});

Deno.test("a repeated acknowledgement changes nothing [ev-push-ack]", () => {
  fc.assert(fc.property(acks, (given) => {
    const receipt = way(given).at(-1) ?? queuedReceipt(0);
    const last = given.at(-1);
    if (last !== undefined) assert.equal(acknowledged(receipt, last, 999), undefined);
  }));
});

Deno.test("each state keeps the time at which it was first reached [rcpt-times]", () => {
  fc.assert(fc.property(acks, (given) => {
    const receipts = way(given);
    for (const [index, next] of receipts.slice(1).entries()) {
      const last = receipts[index] ?? next;
      assert.deepEqual({ ...next.at, ...last.at }, next.at);
      assert.notEqual(next.at[next.state], undefined);
    }
  }));
});

Deno.test("only final states are final, and typed when the listener says so", () => {
  fc.assert(fc.property(acks, (given) => {
    const { final, state } = way(given).at(-1) ?? queuedReceipt(0);
    if (final) assert.ok(state === "typed" || rank(state) > rank("typed"));
    if (rank(state) > rank("typed")) assert.ok(final);
  }));
});

Deno.test("a message that waits for a dialog goes through its states [rcpt-path, rcpt-reasons]", () => {
  const receipts = way([
    { outcome: "delivered", final: false },
    { outcome: "held", final: false, reason: "dialog_open" },
    { outcome: "held", final: false, reason: "desk_busy" },
    { outcome: "typed", final: false },
    { outcome: "submitted", final: true },
    { outcome: "refused", final: true, reason: "pane_dead" },
  ]);
  assert.deepEqual(receipts.map(({ state, reason }) => reason === undefined ? state : `${state} ${reason}`), [
    "queued",
    "delivered",
    "held dialog_open",
    "held desk_busy",
    "typed",
    "submitted",
    "submitted",
  ]);
  assert.deepEqual(receipts.at(-1), {
    state: "submitted",
    final: true,
    at: { queued: 0, delivered: 1, held: 2, typed: 4, submitted: 5 },
  });
});

Deno.test("a refusal keeps its reason and its Retry-After", () => {
  const ack = { outcome: "refused", final: true, reason: "rate_limited", retryAfterSeconds: 7 } as const;
  const { reason, retryAfterSeconds, final } = acknowledged(queuedReceipt(0), ack, 1) ?? queuedReceipt(0);
  assert.deepEqual([reason, retryAfterSeconds, final], ["rate_limited", 7, true]);
});

Deno.test("a final state set by the relay is final, and no other final state follows", () => {
  assert.deepEqual(ended(queuedReceipt(0), "expired", 5), {
    state: "expired",
    final: true,
    at: { queued: 0, expired: 5 },
  });
  assert.equal(ended(deliveredReceipt(0), "unknown", 5), undefined);
});
