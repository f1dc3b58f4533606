/** The progress of a message, as far as it is proven. */
import assert from "node:assert/strict";
import { type CheckedReceipt, type Message, withReceipt, withRelayCopy } from "../../../src/phone/message.ts";
import { receiptText } from "../../../src/phone/receipt_text.ts";
import type { PushState } from "../../../src/protocol/receipt.ts";

const SENT: Message = {
  id: "m",
  deviceId: "dev_listener_a",
  session: "svc-p",
  body: "text",
  createdAt: 1,
  progress: { kind: "outbox" },
};
const word = (state: PushState, at: number, more: Partial<CheckedReceipt> = {}): CheckedReceipt => ({
  state,
  final: state === "submitted",
  at: { [state]: at },
  ...more,
});

Deno.test("a message keeps the state that its host has proven; a state that only the relay claims is shown next to it [sec-active-relay, hostile-relay]", () => {
  const delivered = withReceipt(SENT, word("delivered", 1));
  const claimed = withReceipt(delivered, word("submitted", 2, { unproven: true }));
  assert.ok(claimed.progress.kind === "taken");
  assert.deepEqual([claimed.progress.receipt.state, claimed.progress.unproven], ["delivered", "submitted"]);
  const circumstances = { live: true, hostOnline: true, sentAgain: false, now: 3 };
  const words = receiptText(claimed, circumstances);
  assert.deepEqual([words.tone, words.state], ["unsure", "Delivered"]);
  assert.match(words.detail, /The relay says “Submitted”, but the host has not confirmed it/);
  const proven = withReceipt(claimed, word("submitted", 4));
  assert.equal(receiptText(proven, circumstances).tone, "good");
  const late = withReceipt(proven, word("refused", 5, { unproven: true, final: true }));
  assert.deepEqual(late.progress, proven.progress);
});

Deno.test("a history that claims more than was proven does not change a message [hostile-relay]", () => {
  const delivered = withReceipt(SENT, word("delivered", 1));
  const told = withReceipt(SENT, word("submitted", 2, { unproven: true }));
  const after = withRelayCopy(delivered, told);
  assert.ok(after.progress.kind === "taken");
  assert.deepEqual([after.progress.receipt.state, after.progress.unproven], ["delivered", "submitted"]);
});
