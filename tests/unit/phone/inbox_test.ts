/** The inbox: what comes into it, in which order, and what is never dropped. */
import assert from "node:assert/strict";
import {
  closedItems,
  INBOX_MAX,
  type InboxItem,
  inboxItemOf,
  openQuestions,
  withItemReceipt,
  withItems,
} from "../../../src/phone/inbox.ts";
import type { PushRecord } from "../../../src/protocol/push.ts";
import type { Receipt } from "../../../src/protocol/receipt.ts";
import { idOf, recordOf } from "./samples.ts";

const open: Receipt = { state: "delivered", final: false, at: { delivered: 1 } };
const answered: Receipt = { state: "answered", final: true, at: { answered: 2 }, answer: idOf(99) };

function told(
  number: number,
  type: string,
  fields: Partial<PushRecord["push"]> = {},
  receipt = open,
): PushRecord {
  return { push: { ...recordOf(number).push, type, ...fields }, receipt };
}
const SEALED = { host: "dev_listener_1", nonce: "", ciphertext: "", keys: {} };
const question = (number: number, receipt = open): PushRecord =>
  told(number, "ask", { data: { kind: "prompt", timeoutSeconds: 300 } }, receipt);
const itemsOf = (...records: PushRecord[]): InboxItem[] =>
  records.map(inboxItemOf).filter((item) => item !== undefined);
const numbers = (items: readonly InboxItem[]): number[] => items.map(({ push }) => Number(push.id.slice(-3)));

Deno.test("questions, notes, stops and calls come in, commands and what is not understood do not [ux-inbox]", () => {
  const toldTypes = ["note", "broadcast", "agent.stop", "agent.attention"];
  for (const type of toldTypes) assert.equal(inboxItemOf(told(1, type))?.kind, "told", type);
  assert.equal(inboxItemOf(question(2))?.kind, "question");
  for (const record of [recordOf(1), told(1, "ask", { data: { kind: "vote" } }), told(1, "ask.answer")]) {
    assert.equal(inboxItemOf(record), undefined, record.push.type);
  }
});

Deno.test("what a muted hook sent is not shown [rm-hook-id]", () => {
  const muted: Receipt = { state: "ignored", reason: "hook_muted", final: true, at: { ignored: 1 } };
  assert.equal(inboxItemOf(told(1, "agent.stop", {}, muted)), undefined);
});

Deno.test("a secret that the relay could read is not asked for [hostile-relay, seal-answers]", () => {
  const fields = [{ name: "user", type: "text" }, { name: "password", type: "text", secret: true }];
  const data = { kind: "input", fields, timeoutSeconds: 300 };
  assert.equal(inboxItemOf(told(1, "ask", { data })), undefined);
  assert.equal(inboxItemOf(told(1, "ask", { data, sealedFor: SEALED }))?.kind, "question");
  const [user] = fields;
  assert.equal(inboxItemOf(told(1, "ask", { data: { ...data, fields: [user] } }))?.kind, "question");
});

Deno.test("nothing takes the place of a question that was sealed, and so its answer stays sealed [hostile-relay, seal-answers]", () => {
  const { push } = question(1);
  const sealed = { push: { ...push, body: "Go?", sealedFor: SEALED }, receipt: open };
  const inbox = withItems(new Map(), itemsOf(sealed));
  const swapped = withItems(inbox, itemsOf({ push: { ...push, body: "Stop?" }, receipt: answered })).get(
    idOf(1),
  );
  assert.deepEqual([swapped?.push, swapped?.receipt], [sealed.push, answered]);
});

Deno.test("open questions stand apart, each part with the newest first", () => {
  const inbox = withItems(
    new Map(),
    itemsOf(question(1), told(2, "note"), question(3, answered), question(4)),
  );
  assert.deepEqual(numbers(openQuestions(inbox)), [4, 1]);
  assert.deepEqual(numbers(closedItems(inbox)), [3, 2]);
});

Deno.test("a receipt closes a question, and what comes later than a better word changes nothing", () => {
  const inbox = withItems(new Map(), itemsOf(question(1)));
  const closed = withItemReceipt(inbox, { id: idOf(1), receipt: answered });
  assert.equal(closed.get(idOf(1))?.receipt.answer, idOf(99));
  assert.equal(withItems(closed, itemsOf(question(1))).get(idOf(1))?.receipt.state, "answered");
  assert.equal(withItemReceipt(inbox, { id: idOf(2), receipt: answered }), inbox);
});

Deno.test("the inbox is bounded, and an open question is never dropped", () => {
  const notes = Array.from({ length: INBOX_MAX + 20 }, (_, number) => told(number + 10, "note"));
  const inbox = withItems(new Map(), itemsOf(question(1), ...notes));
  assert.equal(inbox.size, INBOX_MAX + 1);
  assert.ok(inbox.has(idOf(1)) && !inbox.has(idOf(10)));
});
