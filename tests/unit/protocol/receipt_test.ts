/** Receipts: states, reasons and their times. */
import assert from "node:assert/strict";
import { REASONS } from "../../../src/protocol/reasons.ts";
import { PUSH_STATES, Reason, Receipt } from "../../../src/protocol/receipt.ts";

Deno.test("the states are those of the design, plus ignored for unknown types and two final states of questions", () => {
  const path = ["queued", "delivered", "held", "typed", "submitted"];
  const ends = ["refused", "expired", "unknown", "ignored", "answered", "withdrawn"];
  assert.deepEqual([...PUSH_STATES], [...path, ...ends]);
});

Deno.test("each reason is a stable word with a sentence for the user [rcpt-reasons]", () => {
  for (const [reason, sentence] of Object.entries(REASONS)) {
    assert.match(reason, /^[a-z]+(_[a-z]+)*$/);
    assert.match(sentence, /^\S.*\.$/);
    assert.ok(Reason.safeParse(reason).success);
  }
  assert.ok(!Reason.safeParse("because").success);
});

Deno.test("a receipt has the state, the reason and the time of each state reached [rcpt-times]", () => {
  const receipt = {
    state: "held",
    reason: "dialog_open",
    final: false,
    at: { queued: 1, delivered: 2, held: 3 },
  };
  assert.deepEqual(Receipt.parse(receipt), receipt);
  assert.ok(Receipt.safeParse({ ...receipt, reason: "a_reason_of_a_later_version" }).success);
  assert.ok(!Receipt.safeParse({ ...receipt, at: { queued: "1" } }).success);
});
