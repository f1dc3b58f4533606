/** The page's state: events from the relay and the user, and the views' selectors. */

import assert from "node:assert/strict";
import { linkProblem } from "../../../src/client/link_problem.ts";
import { sentAgain } from "../../../src/phone/message.ts";
import { receiptText } from "../../../src/phone/receipt_text.ts";
import {
  answerDraftKey,
  INITIAL_STATE,
  MESSAGES_MAX,
  messagesOf,
  outboxOf,
  type PhoneEvent,
  type PhoneState,
  reduce,
} from "../../../src/phone/state.ts";
import { deviceOf, entryOf, idOf, messageOf, NOW, receiptOf, recordOf, takenWith } from "./samples.ts";

const after = (...events: PhoneEvent[]): PhoneState => events.reduce(reduce, INITIAL_STATE);
const progressOf = (state: PhoneState, number: number) => state.messages.get(idOf(number))?.progress;
function receiptStateOf(state: PhoneState, number: number): string | undefined {
  const progress = progressOf(state, number);
  return progress?.kind === "taken" ? progress.receipt.state : progress?.kind;
}

const WELCOME = { relayVersion: "0", protocolVersion: 1, deviceId: "dev_phone_1", now: NOW, limits: {} };
const connected = (answering: boolean): PhoneEvent => ({
  type: "link",
  link: { state: "connected", welcome: WELCOME, clockOffsetMs: 40, answering },
});

Deno.test("a message waits for the link once it would survive a reload, and storing it overwrites nothing newer [ux-outbox]", () => {
  const id = idOf(1);
  const composed = after({ type: "composed", message: messageOf(1, { kind: "outbox", unsaved: true }) });
  const textOf = (state: PhoneState): string => {
    const [message] = state.messages.values();
    const context = { live: false, hostOnline: true, sentAgain: false, now: NOW };
    return message === undefined ? "" : receiptText(message, context).state;
  };
  assert.equal(textOf(composed), "Sending…");
  assert.equal(textOf(reduce(composed, { type: "saved", id })), "Waiting for the connection");
  const cancelled = reduce(composed, { type: "cancelled", id, edit: false });
  assert.deepEqual(reduce(cancelled, { type: "saved", id }), cancelled);
});

Deno.test("a message goes from the outbox through every state of its receipt [rcpt-live]", () => {
  const id = idOf(1);
  let state = after({ type: "composed", message: messageOf(1) });
  assert.equal(receiptStateOf(state, 1), "outbox");
  state = reduce(state, { type: "accepted", accepted: { id, state: "queued", expiresAt: NOW + 1 } });
  assert.equal(receiptStateOf(state, 1), "queued");
  let at = NOW;
  for (const step of ["delivered", "held", "typed", "submitted"] as const) {
    const receipt = receiptOf(step, { at: { [step]: ++at } });
    state = reduce(state, { type: "receipt", update: { id, receipt } });
    assert.equal(receiptStateOf(state, 1), step);
  }
});

Deno.test("a message that was written while the phone's clock ran fast is ordered by the relay's clock [ux-any-order]", () => {
  const early = { ...messageOf(1), createdAt: NOW + 3_600_000 };
  const state = after(
    { type: "composed", message: early },
    { type: "history", records: [recordOf(1), recordOf(2)] },
  );
  const shown = messagesOf(state, { deviceId: "dev_listener_1", session: "svc-demo" });
  assert.deepEqual(shown.map(({ id }) => id), [idOf(1), idOf(2)]);
});

Deno.test("an older answer never undoes a newer state", () => {
  const id = idOf(1);
  const typed = receiptOf("typed", { at: { queued: 1, delivered: 2, typed: 3 } });
  const delivered = receiptOf("delivered", { at: { queued: 1, delivered: 2 } });
  const state = after(
    { type: "composed", message: messageOf(1) },
    { type: "receipt", update: { id, receipt: typed } },
    { type: "accepted", accepted: { id, state: "queued", expiresAt: 9 } },
    { type: "history", records: [recordOf(1, delivered)] },
    { type: "receipt", update: { id, receipt: delivered } },
  );
  assert.equal(receiptStateOf(state, 1), "typed");
});

Deno.test("a message that the relay has is not in the outbox, even if its 202 never arrived", () => {
  const state = after(
    { type: "restored", messages: [messageOf(1)], drafts: {}, seen: {} },
    { type: "history", records: [recordOf(1)], page: "last" },
  );
  assert.equal(receiptStateOf(state, 1), "submitted");
  assert.equal(state.history, "whole");
});

Deno.test("the history adds only messages to sessions, and records whether there is more", () => {
  const note = recordOf(2);
  note.push.type = "note";
  const single = { type: "history", records: [recordOf(1), note] } as const;
  const state = after({ ...single, page: "more" });
  assert.deepEqual([...state.messages.keys()], [idOf(1)]);
  assert.equal(state.history, "more");
  assert.equal(after(single).history, "unread", "a single push says nothing about the ones before it");
  assert.equal(after({ ...single, page: "last" }, single).history, "whole");
});

Deno.test("questions are added to the inbox, and a live receipt closes them [ux-inbox, ux-live]", () => {
  const asked = recordOf(3, { state: "delivered", final: false, at: {} });
  asked.push = { ...asked.push, type: "ask", data: { kind: "prompt", timeoutSeconds: 60 } };
  const id = idOf(3);
  const update = { id, receipt: { state: "answered", final: true, at: {}, answer: idOf(4) } as const };
  const state = after({ type: "history", records: [asked] }, { type: "receipt", update });
  assert.deepEqual([state.inbox.get(id)?.receipt.state, state.messages.size], ["answered", 0]);
});

Deno.test("an answer is not a message to a session, and sending it clears its draft", () => {
  const answers = { question: idOf(3) };
  const answer = { ...messageOf(1), deviceId: "", session: "", answers };
  const state = after({ type: "drafted", key: `ask/${idOf(3)}`, text: "yes" }, {
    type: "composed",
    message: answer,
  });
  assert.equal(state.drafts[`ask/${idOf(3)}`], "");
});

Deno.test("the history continues from the oldest page, whatever else was loaded", () => {
  const state = after(
    { type: "history", records: [recordOf(50), recordOf(60)], page: "more" },
    { type: "history", records: [recordOf(5)] },
    { type: "history", records: [recordOf(55), recordOf(65)], page: "more" },
  );
  assert.equal(state.oldestRead?.id, idOf(50));
});

Deno.test("earlier pages are kept in addition to the newest messages", () => {
  const newest = Array.from({ length: MESSAGES_MAX }, (_, number) => recordOf(number + 1_000));
  const state = after(
    { type: "history", records: newest, page: "more" },
    { type: "history", records: [recordOf(500), recordOf(501)], page: "last" },
    { type: "history", records: [recordOf(9_000)] },
  );
  assert.deepEqual([state.messages.has(idOf(500)), state.history], [true, "whole"]);
});

Deno.test("an unsent message is never dropped to make room", () => {
  const records = Array.from({ length: MESSAGES_MAX + 50 }, (_, number) => recordOf(number + 10));
  const state = after({ type: "composed", message: messageOf(1) }, { type: "history", records });
  assert.equal(state.messages.size, MESSAGES_MAX + 1);
  assert.equal(receiptStateOf(state, 1), "outbox");
  assert.equal(state.messages.has(idOf(10)), false, "the oldest goes");
});

Deno.test("a message refused by the relay can be retried or discarded", () => {
  const failure = { code: "unknown_device", message: "No such device" };
  const failed = after(
    { type: "composed", message: messageOf(1) },
    { type: "failed", id: idOf(1), failure },
  );
  assert.deepEqual(progressOf(failed, 1), { kind: "failed", failure });
  assert.equal(receiptStateOf(reduce(failed, { type: "retried", id: idOf(1) }), 1), "outbox");
  assert.equal(reduce(failed, { type: "discarded", id: idOf(1) }).messages.size, 0);
});

Deno.test("a refusal does not replace the relay's report of a message, unless the message was only withdrawn here [ux-receipt]", () => {
  const failure = { code: "id_reused", message: "The id was used with different content" };
  const failed = { type: "failed", id: idOf(1), failure } as const;
  const known = stateWith(messageOf(1, takenWith(receiptOf("delivered"))));
  assert.equal(receiptStateOf(reduce(known, failed), 1), "delivered");
  const withdrawn = reduce(stateWith(messageOf(1)), { type: "cancelled", id: idOf(1), edit: true });
  assert.equal(receiptStateOf(reduce(withdrawn, failed), 1), "failed", "the relay has never had it");
});

Deno.test("the picker updates each host separately [ux-live, inv-picker]", () => {
  const other = deviceOf({ deviceId: "dev_listener_2", host: "laptop" });
  const working = deviceOf({ lastSeen: NOW + 5, sessions: [entryOf({ state: "working" })] });
  let state = after({ type: "sessions", devices: [deviceOf()] }, { type: "device", device: other });
  state = reduce(state, { type: "device", device: working });
  assert.deepEqual(state.devices?.map(({ host }) => host), ["workstation", "laptop"]);
  assert.equal(state.devices?.[0]?.sessions[0]?.state, "working");
  state = reduce(state, { type: "sessions", devices: [deviceOf(), other] });
  assert.equal(state.devices?.[0]?.sessions[0]?.state, "working", "an overtaken answer changes nothing");
});

Deno.test("the link is live only while the relay answers", () => {
  assert.equal(after(connected(true)).link.kind, "live");
  assert.equal(after(connected(true)).clockOffsetMs, 40);
  assert.equal(after(connected(true), connected(false)).link.kind, "down");
  const problem = linkProblem("restarting");
  const waiting = after(connected(true), { type: "link", link: { state: "waiting", retryInMs: 9, problem } });
  assert.deepEqual(waiting.link, { kind: "down", problem });
  const retrying = reduce(waiting, { type: "link", link: { state: "connecting" } });
  assert.deepEqual(retrying.link, { kind: "down", problem }, "the reason stays until the link is back");
  assert.equal(after({ type: "link", link: { state: "connecting" } }).link.kind, "connecting");
});

Deno.test("signing out erases everything but the route", () => {
  const route = { view: "session", deviceId: "dev_listener_1", session: "svc-demo" } as const;
  const state = after(
    { type: "route", route },
    { type: "sessions", devices: [deviceOf()] },
    { type: "composed", message: messageOf(1) },
    { type: "drafted", key: "a/b", text: "half" },
    { type: "signIn", signIn: { kind: "out" } },
  );
  assert.deepEqual(state, { ...INITIAL_STATE, route, signIn: { kind: "out" } });
});

Deno.test("a draft belongs to its session and is cleared once sent", () => {
  const key = "dev_listener_1/svc-demo";
  const drafted = after({ type: "drafted", key, text: "hello" }, {
    type: "drafted",
    key: "x/y",
    text: "other",
  });
  assert.equal(drafted.drafts[key], "hello");
  const sent = reduce(drafted, { type: "composed", message: messageOf(1) });
  assert.deepEqual([sent.drafts[key], sent.drafts["x/y"]], ["", "other"]);
});

Deno.test("only the relay's own refusal of a cancellation says that the message was not sent [ux-no-dead-end, ux-receipt]", () => {
  const cancelled = after(
    { type: "composed", message: messageOf(1) },
    { type: "cancelled", id: idOf(1), edit: false },
    { type: "composed", message: { ...messageOf(2), cancels: idOf(1) } },
  );
  const refusedWith = (code: string): string | undefined => {
    const failure = { code, message: "refused" };
    return progressOf(reduce(cancelled, { type: "failed", id: idOf(2), failure }), 1)?.kind;
  };
  assert.deepEqual(["unknown_device", "not_prepared", "bad_answer"].map(refusedWith), [
    "failed",
    "taken",
    "taken",
  ]);
});

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

Deno.test("the outbox holds the messages that the relay does not have, oldest first", () => {
  const failed = messageOf(1, { kind: "failed", failure: { code: "too_large", message: "" } });
  const state = stateWith(messageOf(5), messageOf(2, taken), messageOf(4), failed);
  assert.deepEqual(outboxOf(state).map(({ body }) => body), ["text 4", "text 5"]);
});

Deno.test("a text that was sent again later is recognized", () => {
  const [first, again] = [messageOf(1, taken), { ...messageOf(2), body: "text 1" }];
  assert.deepEqual([...sentAgain([first, again])], [first.id]);
});

Deno.test("a host's details are never replaced by older ones [det-newest]", () => {
  const of = (at: number, project: string): PhoneEvent => {
    const start = { agents: ["cc"], projects: [{ project, directory: "/p" }] };
    return { type: "details", deviceId: "dev_listener_1", details: { at, start } };
  };
  const state = after(of(2, "new"), of(1, "old"), of(2, "again"));
  const shown = state.details.get("dev_listener_1")?.start?.projects.map(({ project }) => project);
  assert.deepEqual(shown, ["new"]);
});

Deno.test("a request to a host is neither a message of the session nor its draft", () => {
  const state = after(
    { type: "drafted", key: "dev_listener_1/svc-demo", text: "half a" },
    { type: "composed", message: { ...messageOf(1), request: "agent.end" } },
  );
  assert.deepEqual(messagesOf(state, { deviceId: "dev_listener_1", session: "svc-demo" }), []);
  assert.equal(state.drafts["dev_listener_1/svc-demo"], "half a");
});

Deno.test("the text of an answer that the relay refuses becomes its draft again, until it is sent once more [ux-no-dead-end]", () => {
  const failure = { code: "ask_closed", message: "" };
  const answer = { ...messageOf(1), body: "an hour's writing", answers: { question: idOf(9) } };
  const key = answerDraftKey(idOf(9));
  const composed = after({ type: "composed", message: answer });
  const failed = reduce(composed, { type: "failed", id: answer.id, failure });
  assert.deepEqual([composed.drafts[key], failed.drafts[key]], ["", "an hour's writing"]);
  assert.equal(reduce(failed, { type: "retried", id: answer.id }).drafts[key], "");
  const chosen = { ...answer, answers: { question: idOf(9), data: { choices: ["a"] } } };
  const again = after({ type: "composed", message: chosen }, { type: "failed", id: answer.id, failure });
  assert.deepEqual(again.drafts, composed.drafts, "what was tapped is no text");
});
