/** How far a message came, as far as anybody has proven it. */
import assert from "node:assert/strict";
import { type HeardReceipt, type Message, withReceipt, withTold } from "../../../src/phone/message.ts";
import { receiptWords } from "../../../src/phone/receipt_words.ts";
import type { PushState } from "../../../src/protocol/receipt.ts";

const SENT: Message = {
  id: "m",
  deviceId: "dev_listener_a",
  session: "svc-p",
  body: "text",
  createdAt: 1,
  progress: { kind: "outbox" },
};
const word = (state: PushState, at: number, more: Partial<HeardReceipt> = {}): HeardReceipt => ({
  state,
  final: state === "submitted",
  at: { [state]: at },
  ...more,
});

Deno.test("a message stays where its host has proven it to be; what only the relay says stands beside it [sec-active-relay, hostile-relay]", () => {
  const delivered = withReceipt(SENT, word("delivered", 1));
  const claimed = withReceipt(delivered, word("submitted", 2, { unproven: true }));
  assert.ok(claimed.progress.kind === "taken");
  assert.deepEqual([claimed.progress.receipt.state, claimed.progress.unproven], ["delivered", "submitted"]);
  const circumstances = { live: true, hostOnline: true, sentAgain: false, now: 3 };
  const words = receiptWords(claimed, circumstances);
  assert.deepEqual([words.tone, words.state], ["unsure", "Delivered"]);
  assert.match(words.detail, /The relay says “Submitted”, and the host has not proven it/);
  const proven = withReceipt(claimed, word("submitted", 4));
  assert.equal(receiptWords(proven, circumstances).tone, "good");
  const late = withReceipt(proven, word("refused", 5, { unproven: true, final: true }));
  assert.deepEqual(late.progress, proven.progress);
});

Deno.test("a history that claims more than was proven leaves a message as it is known [hostile-relay]", () => {
  const delivered = withReceipt(SENT, word("delivered", 1));
  const told = withReceipt(SENT, word("submitted", 2, { unproven: true }));
  const after = withTold(delivered, told);
  assert.ok(after.progress.kind === "taken");
  assert.deepEqual([after.progress.receipt.state, after.progress.unproven], ["delivered", "submitted"]);
});
