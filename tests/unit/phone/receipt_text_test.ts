/** The text of a message's bubble. */

import assert from "node:assert/strict";
import { type ReceiptContext, receiptText } from "../../../src/phone/receipt_text.ts";
import type { Message } from "../../../src/phone/message.ts";
import { cancelledByHost } from "../../../src/phone/views/session.tsx";
import { REASONS } from "../../../src/protocol/reasons.ts";
import { PUSH_STATES, type PushState } from "../../../src/protocol/receipt.ts";
import { messageOf, NOW, receiptOf, takenWith } from "./samples.ts";

const usual: ReceiptContext = { live: true, hostOnline: true, sentAgain: false, now: NOW };
const wordsFor = (receipt: Parameters<typeof takenWith>[0], changed: Partial<ReceiptContext> = {}) =>
  receiptText(messageOf(1, takenWith(receipt)), { ...usual, ...changed });

Deno.test("every state has its own text [ux-receipt]", () => {
  const words = PUSH_STATES.map((state) => wordsFor(receiptOf(state)).state);
  assert.equal(new Set(words).size, PUSH_STATES.length);
});

Deno.test("every reason is explained, with what to do [ux-receipt, rcpt-reasons]", () => {
  for (const [reason, sentence] of Object.entries(REASONS)) {
    const { detail } = wordsFor(receiptOf("refused", { reason }));
    assert.ok(detail.startsWith(sentence) && detail.length > sentence.length + 10, `${reason}: ${detail}`);
  }
  assert.match(wordsFor(receiptOf("refused", { reason: "of_the_future" })).detail, /of_the_future/);
});

Deno.test("a message that is held because a local user types, or because of a draft, says that it is refused soon [ux-receipt]", () => {
  for (const reason of ["desk_busy", "phone_draft"] as const) {
    const { detail } = wordsFor(receiptOf("held", { reason }));
    assert.match(`${detail}`, /10 seconds/, reason);
    assert.doesNotMatch(`${detail}`, /automatically/, reason);
  }
  assert.match(`${wordsFor(receiptOf("held", { reason: "agent_working" })).detail}`, /automatically/);
});

Deno.test("a held message says why, and that it will be typed automatically [ux-receipt]", () => {
  const { tone, detail, resendFrom } = wordsFor(receiptOf("held", { reason: "dialog_open" }));
  assert.equal(tone, "held");
  assert.match(detail, /automatically.*dialog/);
  assert.equal(resendFrom, undefined);
});

Deno.test("a rate limit offers to send again when Retry-After is over [inj-rate-resend]", () => {
  const refused = receiptOf("refused", { reason: "rate_limited", retryAfterSeconds: 7 });
  assert.equal(wordsFor(refused).resendFrom, NOW + 7_000);
  assert.equal(wordsFor(refused, { sentAgain: true }).resendFrom, undefined, "once is enough");
});

Deno.test("sending again is offered only if the text may not have arrived", () => {
  const offered = PUSH_STATES.filter((state) => wordsFor(receiptOf(state)).resendFrom !== undefined);
  assert.deepEqual(offered, ["refused", "expired", "unknown", "ignored", "withdrawn"]);
});

Deno.test("an unknown end says why if the host gave a reason [inj-proof]", () => {
  assert.match(wordsFor(receiptOf("unknown")).detail, /listener stopped/);
  assert.match(
    wordsFor(receiptOf("unknown", { reason: "not_confirmed" })).detail,
    /nothing showed.*Check the terminal/,
  );
});

Deno.test("typed is pending while it can change, and unsure as a final state", () => {
  assert.equal(wordsFor(receiptOf("typed")).tone, "pending");
  assert.equal(wordsFor(receiptOf("typed", { final: true })).tone, "unsure");
});

Deno.test("an unsent message says so and can be cancelled [ux-no-dead-end]", () => {
  const waiting = receiptText(messageOf(1), { ...usual, live: false });
  assert.match(waiting.state, /connection/);
  assert.deepEqual([waiting.cancellable, waiting.editable], [true, true]);
  const failed = messageOf(1, {
    kind: "failed",
    failure: { code: "of_the_future", message: "Cannot send: why" },
  });
  assert.deepEqual(receiptText(failed, usual).detail, "Cannot send: why.");
});

Deno.test("a message for an offline host says until when it waits", () => {
  assert.equal(wordsFor(receiptOf("queued")).detail, "");
  assert.match(wordsFor(receiptOf("queued"), { hostOnline: false }).detail, /offline.*by \d/);
  const unanswered = messageOf(1, { kind: "taken", receipt: receiptOf("queued"), expiresAt: 0 });
  assert.equal(receiptText(unanswered, { ...usual, hostOnline: false }).detail, "", "nobody has said when");
});

Deno.test("a cancellation that only the relay reports is marked as such until the host confirms it [ux-receipt, hostile-relay]", () => {
  const withdrawn = { ...receiptOf("withdrawn"), deliverable: true as const };
  const message = messageOf(1, takenWith(withdrawn));
  const cancellation = (state: PushState): Message => ({
    ...messageOf(2, takenWith(receiptOf(state))),
    body: "",
    cancels: message.id,
  });
  const textWith = (...others: Message[]): string => {
    const messages = new Map([message, ...others].map((one) => [one.id, one]));
    const isCancelled = cancelledByHost({ messages }).has(message.id);
    return receiptText(message, { ...usual, cancelledByHost: isCancelled }).detail;
  };
  assert.match(textWith(), /the host has not confirmed it/);
  assert.match(textWith(cancellation("queued")), /the host has not confirmed it/);
  assert.equal(textWith(cancellation("submitted")), "");
});
