/** How a question stands on the phone, from what it knows of question, answers and messages. */
import assert from "node:assert/strict";
import { inboxItemOf, type QuestionItem } from "../../../src/phone/inbox.ts";
import type { Message, Progress } from "../../../src/phone/message.ts";
import { type QuestionStatus, questionStatus } from "../../../src/phone/question_status.ts";
import { INITIAL_STATE } from "../../../src/phone/state.ts";
import type { Receipt } from "../../../src/protocol/receipt.ts";
import { idOf, messageOf, NOW, receiptOf, recordOf, takenWith } from "./samples.ts";

const open: Receipt = { state: "delivered", final: false, at: {} };
const answered: Receipt = { state: "answered", final: true, at: {}, answer: idOf(2) };

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
  return questionStatus({ ...INITIAL_STATE, messages: known }, item, now);
}
const answer = (progress: Progress): Message => ({
  ...messageOf(2, progress),
  answers: { question: idOf(1) },
});

Deno.test("a question is open until its time, then takes a late answer, until it is too old [mcp-late]", () => {
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

Deno.test("an answer from here is shown on its way, and when it failed", () => {
  assert.equal(status(questionWith(open), { messages: [answer({ kind: "outbox" })] }).kind, "sending");
  const failure = { code: "ask_closed", message: "" };
  assert.equal(
    status(questionWith(open), { messages: [answer({ kind: "failed", failure })] }).kind,
    "failed",
  );
});

Deno.test("an answered question tells where its answer is [ux-inbox]", () => {
  const way = (...messages: Message[]): unknown => {
    const found = status(questionWith(answered), { messages });
    return found.kind === "answered" ? found.way : found.kind;
  };
  const withState = (state: Receipt["state"]): Message => answer(takenWith(receiptOf(state)));
  assert.equal(way(), "under_way");
  assert.deepEqual(
    (["queued", "delivered", "expired", "refused"] as const).map((state) => way(withState(state))),
    [
      "under_way",
      "taken",
      "typed",
      "lost",
    ],
  );
  const typed = { ...messageOf(3, takenWith(receiptOf("held"))), inReplyTo: idOf(1) };
  const found = status(questionWith(answered), { messages: [withState("expired"), typed] });
  assert.ok(found.kind === "answered" && found.typed === typed && !found.here);
});

Deno.test("the winner's answer is shown, not the one from here that came second", () => {
  const failure = { code: "ask_closed", message: "" };
  const second = {
    ...messageOf(5, { kind: "failed", failure }),
    answers: { question: idOf(1) },
    fromHere: true,
  };
  const found = status(questionWith(answered), {
    messages: [second, answer(takenWith(receiptOf("delivered")))],
  });
  assert.ok(found.kind === "answered" && found.answer?.id === idOf(2) && !found.here);
});

Deno.test("a withdrawn question is closed, whatever was written", () => {
  const withdrawn = questionWith({ state: "withdrawn", final: true, at: {} });
  assert.deepEqual(status(withdrawn), { kind: "closed", why: "withdrawn" });
});
