/** What the views ask of the state. */

import assert from "node:assert/strict";
import { isSentAgain, messagesOf, outboxOf } from "../../../src/phone/selectors.ts";
import { INITIAL_STATE, type PhoneState } from "../../../src/phone/state.ts";
import { messageOf, receiptOf, takenWith } from "./samples.ts";

const stateWith = (...messages: ReturnType<typeof messageOf>[]): PhoneState => ({
  ...INITIAL_STATE,
  messages: new Map(messages.map((message) => [message.id, message])),
});
const taken = takenWith(receiptOf("submitted"));
const name = { deviceId: "dev_listener_1", session: "svc-demo" };

Deno.test("a session shows its own messages in the order in which they were written", () => {
  const elsewhere = { ...messageOf(4), deviceId: "dev_listener_2" };
  const unaddressed = { ...messageOf(1, taken), deviceId: "" };
  const shown = messagesOf(stateWith(messageOf(3), elsewhere, messageOf(2, taken), unaddressed), name);
  assert.deepEqual(shown.map(({ body }) => body), ["text 1", "text 2", "text 3"]);
});

Deno.test("the outbox holds what the relay has not, oldest first", () => {
  const failed = messageOf(1, { kind: "failed", failure: { code: "too_large", message: "" } });
  const state = stateWith(messageOf(5), messageOf(2, taken), messageOf(4), failed);
  assert.deepEqual(outboxOf(state).map(({ body }) => body), ["text 4", "text 5"]);
});

Deno.test("a text that went out again later is known as such", () => {
  const [first, again] = [messageOf(1, taken), { ...messageOf(2), body: "text 1" }];
  assert.equal(isSentAgain(first, [first, again]), true);
  assert.equal(isSentAgain(again, [first, again]), false);
});
