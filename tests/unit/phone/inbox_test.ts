/** The inbox: what it contains, in which order, what is never dropped, and what questions and cards show. */
import assert from "node:assert/strict";
import {
  closedItems,
  INBOX_MAX,
  type InboxItem,
  inboxItemOf,
  openQuestions,
  type QuestionItem,
  type QuestionStatus,
  questionStatus,
  singleOptions,
  standingCards,
  withItemReceipt,
  withItems,
} from "../../../src/phone/inbox.ts";
import type { Message, Progress } from "../../../src/phone/message.ts";
import type { Asked, CardQuestion } from "../../../src/protocol/ask.ts";
import type { PushRecord } from "../../../src/protocol/push.ts";
import type { Receipt } from "../../../src/protocol/receipt.ts";
import { idOf, messageOf, NOW, receiptOf, recordOf, takenWith } from "./samples.ts";

const open: Receipt = { state: "delivered", final: false, at: { delivered: 1 } };
const answered: Receipt = { state: "answered", final: true, at: { answered: 2 }, answer: idOf(99) };

function record(
  number: number,
  type: string,
  fields: Partial<PushRecord["push"]> = {},
  receipt = open,
): PushRecord {
  return { push: { ...recordOf(number).push, type, ...fields }, receipt };
}
const SEALED = { host: "dev_listener_1", nonce: "", ciphertext: "", keys: {} };
const question = (number: number, receipt = open): PushRecord =>
  record(number, "ask", { data: { kind: "prompt", timeoutSeconds: 300 } }, receipt);
const itemsOf = (...records: PushRecord[]): InboxItem[] =>
  records.map(inboxItemOf).filter((item) => item !== undefined);
const numbers = (items: readonly InboxItem[]): number[] => items.map(({ push }) => Number(push.id.slice(-3)));

Deno.test("questions and notifications are added, commands and unknown questions are not [ux-inbox]", () => {
  const types = ["note", "broadcast", "agent.stop", "agent.attention"];
  for (const type of types) assert.equal(inboxItemOf(record(1, type))?.kind, "notification", type);
  assert.equal(inboxItemOf(question(2))?.kind, "question");
  for (const other of [recordOf(1), record(1, "ask", { data: { kind: "vote" } }), record(1, "ask.answer")]) {
    assert.equal(inboxItemOf(other), undefined, other.push.type);
  }
});

Deno.test("a push from a muted hook is not shown [rm-hook-id]", () => {
  const muted: Receipt = { state: "ignored", reason: "hook_muted", final: true, at: { ignored: 1 } };
  assert.equal(inboxItemOf(record(1, "agent.stop", {}, muted)), undefined);
});

Deno.test("a question for a secret that the relay could read is not shown [hostile-relay, seal-answers]", () => {
  const fields = [{ name: "user", type: "text" }, { name: "password", type: "text", secret: true }];
  const data = { kind: "input", fields, timeoutSeconds: 300 };
  assert.equal(inboxItemOf(record(1, "ask", { data })), undefined);
  assert.equal(inboxItemOf(record(1, "ask", { data, sealedFor: SEALED }))?.kind, "question");
  const [user] = fields;
  assert.equal(inboxItemOf(record(1, "ask", { data: { ...data, fields: [user] } }))?.kind, "question");
});

Deno.test("nothing replaces a question that was sealed, so its answer stays sealed [hostile-relay, seal-answers]", () => {
  const { push } = question(1);
  const sealed = { push: { ...push, body: "Go?", sealedFor: SEALED }, receipt: open };
  const inbox = withItems(new Map(), itemsOf(sealed));
  const swapped = withItems(inbox, itemsOf({ push: { ...push, body: "Stop?" }, receipt: answered })).get(
    idOf(1),
  );
  assert.deepEqual([swapped?.push, swapped?.receipt], [sealed.push, answered]);
});

Deno.test("open questions are separate from the rest, and both are sorted newest first", () => {
  const inbox = withItems(
    new Map(),
    itemsOf(question(1), record(2, "note"), question(3, answered), question(4)),
  );
  assert.deepEqual(numbers(openQuestions(inbox, NOW)), [4, 1]);
  assert.deepEqual(numbers(closedItems(inbox, NOW)), [3, 2]);
});

Deno.test("a card whose time is over is not among the open questions, even if nobody has ended it [card-shown]", () => {
  const questions = [{ text: "Which?", options: [{ label: "one" }] }];
  const data = { kind: "questions", questions, timeoutSeconds: 300, replyTo: "dev_l", listener: "dev_l" };
  const inbox = withItems(new Map(), itemsOf(record(1, "ask", { data, sealedFor: SEALED }), question(2)));
  const createdAt = inbox.get(idOf(1))?.push.createdAt ?? 0;
  assert.deepEqual(numbers(openQuestions(inbox, createdAt + 299_999)), [2, 1]);
  const over = createdAt + 300_000;
  assert.deepEqual([numbers(openQuestions(inbox, over)), numbers(closedItems(inbox, over))], [[2], [1]]);
});

Deno.test("a receipt closes a question, and an older one changes nothing", () => {
  const inbox = withItems(new Map(), itemsOf(question(1)));
  const closed = withItemReceipt(inbox, { id: idOf(1), receipt: answered });
  assert.equal(closed.get(idOf(1))?.receipt.answer, idOf(99));
  assert.equal(withItems(closed, itemsOf(question(1))).get(idOf(1))?.receipt.state, "answered");
  assert.equal(withItemReceipt(inbox, { id: idOf(2), receipt: answered }), inbox);
});

Deno.test("the inbox is bounded, and an open question is never dropped", () => {
  const notes = Array.from({ length: INBOX_MAX + 20 }, (_, number) => record(number + 10, "note"));
  const inbox = withItems(new Map(), itemsOf(question(1), ...notes));
  assert.equal(inbox.size, INBOX_MAX + 1);
  assert.ok(inbox.has(idOf(1)) && !inbox.has(idOf(10)));
});

Deno.test("the item of a tapped notification is not dropped while it is open, however old it is [ux-old-open]", () => {
  const notes = itemsOf(...Array.from({ length: INBOX_MAX }, (_, number) => record(number + 10, "note")));
  const inbox = withItems(new Map(), notes);
  const old = itemsOf(record(1, "note"));
  assert.equal(withItems(inbox, old, { opened: idOf(1) }).has(idOf(1)), true);
  assert.equal(withItems(inbox, old).has(idOf(1)), false);
});

const answeredBy2: Receipt = { ...answered, answer: idOf(2) };

function questionWith(receipt: Receipt, fields: Record<string, unknown> = {}): QuestionItem {
  const push = {
    ...recordOf(1).push,
    type: "ask",
    createdAt: NOW,
    data: { kind: "prompt", timeoutSeconds: 60 },
  };
  const item = inboxItemOf({ push: { ...push, ...fields }, receipt });
  return item?.kind === "question" ? item : assert.fail("no question");
}

function status(
  item: QuestionItem,
  { now = NOW, messages = [] }: { now?: number; messages?: Message[] } = {},
): QuestionStatus {
  const known = new Map(messages.map((message) => [message.id, message]));
  return questionStatus(item, { messages: known, now });
}
const answer = (progress: Progress): Message => ({
  ...messageOf(2, progress),
  answers: { question: idOf(1) },
});

Deno.test("a question is open until its deadline, then accepts a late answer until it expires [mcp-late]", () => {
  const late = (now: number) => {
    const found = status(questionWith(open), { now });
    return found.kind === "open" ? found.late : found.kind;
  };
  assert.deepEqual([NOW, NOW + 59_999, NOW + 60_000, NOW + 3_600_000].map(late), [
    false,
    false,
    true,
    "closed",
  ]);
  const homeless = questionWith(open, { agentSessionName: undefined });
  assert.equal(status(homeless, { now: NOW + 60_000 }).kind, "closed");
});

Deno.test("an answer from this phone is shown as sending, and as failed", () => {
  assert.equal(status(questionWith(open), { messages: [answer({ kind: "outbox" })] }).kind, "sending");
  const failure = { code: "ask_closed", message: "" };
  assert.equal(
    status(questionWith(open), { messages: [answer({ kind: "failed", failure })] }).kind,
    "failed",
  );
});

Deno.test("an answered question says whether its answer arrived [ux-inbox]", () => {
  const outcome = (...messages: Message[]): unknown => {
    const found = status(questionWith(answeredBy2), { messages });
    return found.kind === "answered" ? found.outcome : found.kind;
  };
  const withState = (state: Receipt["state"]): Message => answer(takenWith(receiptOf(state)));
  assert.equal(outcome(), "pending");
  assert.deepEqual(
    (["queued", "delivered", "expired", "refused"] as const).map((state) => outcome(withState(state))),
    [
      "pending",
      "received",
      "typed",
      "lost",
    ],
  );
  const typed = { ...messageOf(3, takenWith(receiptOf("held"))), inReplyTo: idOf(1) };
  const found = status(questionWith(answeredBy2), { messages: [withState("expired"), typed] });
  assert.ok(found.kind === "answered" && found.typed === typed && !found.here);
});

Deno.test("after a reload an answer counts as this phone's if the phone has stored what it sealed [ux-inbox]", () => {
  const isHere = (sealed: Message["sealed"]): unknown => {
    const given = { ...answer(takenWith(receiptOf("delivered"))), ...(sealed ? { sealed } : {}) };
    const found = status(questionWith(answeredBy2), { messages: [given] });
    return found.kind === "answered" && found.here;
  };
  assert.deepEqual([isHere("here"), isHere("elsewhere"), isHere(undefined)], [true, false, false]);
});

Deno.test("the first answer is shown, not a later one from this phone", () => {
  const failure = { code: "ask_closed", message: "" };
  const second = {
    ...messageOf(5, { kind: "failed", failure }),
    answers: { question: idOf(1) },
    fromHere: true,
  };
  const found = status(questionWith(answeredBy2), {
    messages: [second, answer(takenWith(receiptOf("delivered")))],
  });
  assert.ok(found.kind === "answered" && found.answer?.id === idOf(2) && !found.here);
  assert.equal(found.unsent, second, "and that one says that it was not sent");
});

Deno.test("a question that was closed before its answer arrived says that the answer was not sent [ux-no-dead-end]", () => {
  const failed = answer({ kind: "failed", failure: { code: "ask_closed", message: "" } });
  for (const state of ["withdrawn", "expired"] as const) {
    const closed = questionWith({ state, final: true, at: {} });
    assert.deepEqual(status(closed, { messages: [failed] }), { kind: "closed", why: state, unsent: failed });
  }
});

Deno.test("a withdrawn question is closed, whatever else is known", () => {
  const withdrawn = questionWith({ state: "withdrawn", final: true, at: {} });
  assert.deepEqual(status(withdrawn), { kind: "closed", why: "withdrawn" });
});

const CARD = {
  kind: "questions",
  questions: [{ text: "Which?", options: [{ label: "a" }] }],
  timeoutSeconds: 60,
};
const cardWith = (receipt: Receipt): QuestionItem => questionWith(receipt, { data: CARD, sealedFor: SEALED });

Deno.test("a card counts only if it came sealed, nothing replaces it, and it is never late [card-sealed, card-shown]", () => {
  assert.equal(inboxItemOf(record(1, "ask", { data: CARD })), undefined);
  const item = cardWith(open);
  assert.equal(item.ask.kind, "questions");
  const inbox = withItems(new Map(), [item]);
  assert.equal(withItems(inbox, itemsOf(question(1))).get(idOf(1))?.push, item.push);
  assert.equal(status(item, { now: NOW + 59_999 }).kind, "open");
  assert.deepEqual(status(item, { now: NOW + 60_000 }), { kind: "closed", why: "expired" });
});

Deno.test("the receipt of a card's answer says how far it got, or that only the relay says so [card-outcome]", () => {
  const outcome = (progress: Progress): unknown => {
    const found = status(cardWith(answeredBy2), { messages: [answer(progress)] });
    return found.kind === "answered" ? found.outcome : found.kind;
  };
  const states = ["queued", "delivered", "submitted", "refused", "expired", "ignored", "unknown"] as const;
  assert.deepEqual(states.map((state) => outcome(takenWith(receiptOf(state)))), [
    ...["pending", "on_host", "applied", "refused", "not_taken", "not_taken", "unclear"],
  ]);
  assert.equal(outcome(takenWith(receiptOf("refused", { reason: "dialog_gone" }))), "gone");
  const receipt = receiptOf("queued");
  const claimed: Progress = { kind: "taken", receipt, expiresAt: NOW, unproven: "submitted" };
  assert.equal(outcome(claimed), "unproven");
});

Deno.test("a card replaces its dialog until the agent has received an answer, or no longer waits [card-once]", () => {
  const standing = (receipt: Receipt, messages: Message[] = [], now = NOW): boolean => {
    const inbox = withItems(new Map(), [cardWith(receipt)]);
    return standingCards({ inbox, messages: new Map(messages.map((one) => [one.id, one])) }, now).length > 0;
  };
  assert.ok(standing(open));
  assert.ok(!standing(open, [], NOW + 60_000));
  assert.ok(standing(answeredBy2, [answer(takenWith(receiptOf("delivered")))]));
  assert.ok(!standing(answeredBy2, [answer(takenWith(receiptOf("submitted")))]));
  assert.ok(!standing({ state: "withdrawn", final: true, at: {} }));
});

const OPTIONS = [{ label: "a" }, { label: "b", description: "the second" }, { label: "c" }];
const ONE: CardQuestion = { text: "Which?", options: OPTIONS, freeText: true };
const MANY: CardQuestion = { text: "Which ones?", options: OPTIONS, multiple: true };
const FREE: CardQuestion = { text: "What name?", options: [], freeText: true };

const cardOf = (...questions: CardQuestion[]): Asked => ({
  kind: "questions",
  questions,
  timeoutSeconds: 60,
});

Deno.test("only one question with one answer has options to tap [card-shown, card-notified]", () => {
  assert.equal(singleOptions(cardOf(ONE)).length, 3);
  for (const card of [cardOf(MANY), cardOf(ONE, ONE), cardOf(FREE)]) {
    assert.deepEqual(singleOptions(card), []);
  }
});
