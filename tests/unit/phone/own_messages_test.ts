/** The user's own unfinished messages: what survives a reload, a failure or a full disk, and how long one for later may wait. */
import assert from "node:assert/strict";
import { LATER_MAX_MS, laterTtlSeconds } from "../../../src/phone/own_messages.ts";
import { progressOf, startRequest } from "../../../src/phone/requests.ts";
import { laterByRelay } from "../../../src/phone/views/session.tsx";
import { SKEW_MS, TTL_MAX_SECONDS } from "../../../src/protocol/limits.ts";
import { until } from "../../helpers/until.ts";
import { type Bench, live, phoneWith, reloaded, stateOf, TO } from "./phone_bench.ts";
import { idOf, NOW, receiptOf } from "./samples.ts";

const HOUR_MS = 3_600_000;
const START = startRequest("dev_listener_1", { agent: "cc", project: "demo" });
const KEY = "dev_listener_1/svc-demo";
const draftOf = ({ store }: Bench): string => store.get().drafts[KEY] ?? "";

function firstMessage({ store }: Bench) {
  const [message] = store.get().messages.values();
  assert.ok(message);
  return message;
}

/** Writes a message without a link, edits or cancels it, and closes the page. */
async function leftBehind(how: "edit" | "cancel", text: string): Promise<{ bench: Bench; id: string }> {
  const bench = await live(phoneWith({ apiKey: "svc_k" }));
  bench.relay.away = true;
  await bench.controller.send(TO, text);
  const { id } = firstMessage(bench);
  await bench.controller[how](firstMessage(bench));
  await bench.controller.stop();
  return { bench, id };
}

Deno.test("a message that is edited without a link keeps its text over a reload, until it is the draft [ux-no-dead-end]", async () => {
  const { bench, id } = await leftBehind("edit", "half an hour's writing");

  const next = await live(reloaded(bench));
  await until("the cancellation", () => next.relay.records.length > 0);
  assert.deepEqual(next.relay.records.map(({ push }) => push.inReplyTo), [id], "it is not sent itself");
  assert.equal(next.store.get().messages.get(id)?.body, "half an hour's writing");
  assert.equal(next.storage.outbox.get(id)?.body, "half an hour's writing");
  next.sockets.last.says("push.updated", { id, receipt: receiptOf("withdrawn", { final: true }) });
  await until("the draft", () => draftOf(next) === "half an hour's writing");
  await until("the outbox to be empty", () => next.storage.outbox.size === 0);
  assert.equal(next.storage.drafts.get(KEY), "half an hour's writing", "stored before its copy was removed");
  next.controller.stop();
});

Deno.test("a text that is already the draft is not put before it again by the next page [ux-no-dead-end]", async () => {
  const { bench, id } = await leftBehind("edit", "once is enough");
  // The page was closed after it had stored the draft, but before it had removed the message.
  bench.storage.drafts.set(KEY, "once is enough\n\nand more");
  const next = await live(reloaded(bench));
  next.sockets.last.says("push.updated", { id, receipt: receiptOf("withdrawn", { final: true }) });
  await until("the end", () => next.store.get().messages.get(id)?.editing === undefined);
  assert.equal(draftOf(next), "once is enough\n\nand more");
  await next.controller.stop();
});

Deno.test("a message that was typed before its text could be edited is left alone [ux-no-dead-end]", async () => {
  const { bench, id } = await leftBehind("edit", "typed already");
  const next = await live(reloaded(bench));
  next.sockets.last.says("push.updated", { id, receipt: receiptOf("submitted") });
  await until("the outbox to be empty", () => next.storage.outbox.size === 0);
  assert.deepEqual([stateOf(next, id), draftOf(next)], ["submitted", ""]);
  next.controller.stop();
});

for (const refusal of ["unknown_device", "ambiguous_session", "missing_scope"] as const) {
  for (const how of ["cancel", "edit"] as const) {
    Deno.test(`a message that the relay never had is not sent when the relay refuses to ${how} it: ${refusal} [ux-no-dead-end]`, async () => {
      const bench = await live(phoneWith({ apiKey: "svc_k" }));
      const { controller, relay, storage } = bench;
      relay.away = true;
      await controller.send(TO, "an hour's writing");
      const { id } = firstMessage(bench);
      await controller[how](firstMessage(bench));
      assert.equal(storage.outbox.get(id)?.body, "an hour's writing");
      Object.assign(relay, { away: false, refusal });
      controller.reconnectNow();
      bench.clock.advance(1_000);
      await until("the end", () => storage.outbox.size === 1 && storage.outbox.get(id)?.failure);
      assert.equal(stateOf(bench, id), "failed");
      await controller.stop();

      const next = await live(reloaded(bench));
      assert.deepEqual([stateOf(next, id), next.relay.records.length], ["failed", 0]);
      await next.controller.edit(firstMessage(next));
      assert.deepEqual([draftOf(next), next.storage.outbox.size], ["an hour's writing", 0]);
      await next.controller.stop();
    });
  }
}

async function cancelsAfterReload(bench: Bench, id: string): Promise<void> {
  const next = await live(reloaded(bench));
  await until("the outbox to be empty", () => next.storage.outbox.size === 0);
  assert.deepEqual(next.relay.records.map(({ push }) => push.inReplyTo), [id]);
  await next.controller.stop();
}

Deno.test("a message that is cancelled without a link is not sent after a reload, and its copy is removed with the cancellation [ux-no-dead-end, ux-outbox]", async () => {
  const { bench, id } = await leftBehind("cancel", "better not");
  await cancelsAfterReload(bench, id);
});

Deno.test("a message whose cancellation was not stored is cancelled after a reload [ux-no-dead-end, ux-outbox]", async () => {
  const { bench, id } = await leftBehind("cancel", "better not");
  for (const entry of [...bench.storage.outbox.values()]) {
    if (entry.cancels !== undefined) bench.storage.outbox.delete(entry.id);
  }
  assert.equal(bench.storage.outbox.size, 1);
  await cancelsAfterReload(bench, id);
});

for (const how of ["cancel", "edit", "discard"] as const) {
  Deno.test(`a message that another page has restored is not sent there after a ${how} here [ux-outbox]`, async () => {
    const bench = await live(phoneWith({ apiKey: "svc_k" }));
    const { controller, storage } = bench;
    bench.relay.away = true;
    await controller.send(TO, "not any more");
    const other = reloaded(bench);
    other.relay.away = true;
    await other.controller.start();
    const message = firstMessage(bench);
    if (how === "discard") await controller.discard(message.id);
    else await controller[how](message);
    // Both pages share one storage.
    other.storage.outbox.clear();
    for (const [id, entry] of storage.outbox) other.storage.outbox.set(id, entry);
    other.relay.away = false;
    other.sockets.last.welcome(NOW);
    await until("the end", () => !other.store.get().messages.has(message.id));
    assert.deepEqual(other.relay.records, []);
    await Promise.all([controller.stop(), other.controller.stop()]);
  });
}

Deno.test("a page sends the waiting messages of another one that was closed, once and in order, and its own after them [ux-outbox]", async () => {
  const bench = await live(phoneWith({ apiKey: "svc_k" }));
  bench.relay.away = true;
  await bench.controller.send(TO, "first");
  await bench.controller.send(TO, "second");
  await bench.controller.stop();

  const other = await live(phoneWith({ apiKey: "svc_k" }));
  other.relay.away = true;
  other.clock.advance(100);
  await other.controller.send(TO, "written here");
  // Both pages share one storage.
  for (const [id, entry] of bench.storage.outbox) other.storage.outbox.set(id, entry);
  const left = [...bench.storage.outbox.keys()];
  other.storage.outbox.set(idOf(9), { ...TO, id: idOf(9), body: "of a page that is open", createdAt: NOW });
  other.relay.away = false;
  await Promise.all([other.controller.takeOver(left), other.controller.takeOver(left)]);
  await until("an empty outbox", () => other.storage.outbox.size === 1);
  assert.deepEqual(other.relay.records.map(({ push }) => push.body), ["first", "second", "written here"]);
  await other.controller.stop();
});

Deno.test("a cancelled message that is sent again does not count as cancelled after a reload [ux-outbox]", async () => {
  const bench = await live(phoneWith({ apiKey: "svc_k" }));
  const { controller, relay, storage } = bench;
  relay.away = true;
  await controller.send(TO, "after all");
  const { id } = firstMessage(bench);
  await controller.cancel(firstMessage(bench));
  bench.store.dispatch({ type: "failed", id, failure: { code: "id_reused", message: "" } });
  await controller.resend(firstMessage(bench));
  assert.deepEqual([storage.outbox.get(id)?.cancelled, stateOf(bench, id)], [undefined, "outbox"]);
  await controller.stop();
});

/** Makes a message that the relay has rejected. */
async function rejected(): Promise<Bench> {
  const bench = await live(phoneWith({ apiKey: "svc_k" }));
  bench.relay.refusal = "missing_scope";
  await bench.controller.send(TO, "first wording");
  assert.equal(stateOf(bench, firstMessage(bench).id), "failed");
  return bench;
}

Deno.test("a message that the relay rejected is shown as rejected after a reload, and not sent automatically [ux-no-dead-end]", async () => {
  const bench = await rejected();
  const { id } = firstMessage(bench);
  await bench.controller.stop();
  const next = await live(reloaded(bench));
  assert.deepEqual(firstMessage(next).progress, firstMessage(bench).progress);
  await next.controller.send(TO, "another one");
  assert.deepEqual(next.relay.records.map(({ push }) => push.body), ["another one"]);
  await next.controller.resend(firstMessage(next));
  assert.deepEqual([stateOf(next, id), next.storage.outbox.size], ["queued", 0]);
  await next.controller.stop();
});

Deno.test("a message that another page has sent keeps its receipt when the relay refuses it here [ux-receipt, ux-outbox]", async () => {
  const bench = await live(phoneWith({ apiKey: "svc_k" }));
  const { controller, relay, storage } = bench;
  const answered = Promise.withResolvers<void>();
  Object.assign(relay, { refusal: "id_reused", answering: answered.promise });
  const sent = controller.send(TO, "sent twice");
  await until("the request", () => relay.asked.at(-1) === "POST /pushes/send");
  const { id } = firstMessage(bench);
  bench.sockets.last.says("push.updated", { id, receipt: receiptOf("delivered") });
  await until("the receipt", () => stateOf(bench, id) === "delivered");
  answered.resolve();
  await sent;
  assert.deepEqual([stateOf(bench, id), storage.outbox.size], ["delivered", 0]);
  await controller.stop();
});

Deno.test("a rejected message that is edited is removed, so that only its new text is sent [ux-no-dead-end]", async () => {
  const bench = await rejected();
  const { controller, relay, storage, store } = bench;
  await controller.edit(firstMessage(bench));
  assert.deepEqual([draftOf(bench), store.get().messages.size, storage.outbox.size], ["first wording", 0, 0]);
  relay.refusal = undefined;
  await controller.send(TO, "second wording");
  await controller.stop();
  const next = await live(reloaded(bench));
  assert.equal(next.store.get().messages.size, 0);
  await next.controller.stop();
});

Deno.test("a message that is sent again leaves the draft unchanged, and waits again until its time [ux-no-dead-end]", async () => {
  const bench = await live(phoneWith({ apiKey: "svc_k" }));
  const { controller, clock, store } = bench;
  const later = { kind: "at", at: clock.now() + 60_000 } as const;
  await controller.send(TO, "at nine", { later });
  const first = firstMessage(bench);
  bench.sockets.last.says("push.updated", { id: first.id, receipt: receiptOf("withdrawn") });
  await until("the cancellation", () => stateOf(bench, first.id) === "withdrawn");
  controller.draft(TO, "half of another");
  const last = () => [...store.get().messages.values()].at(-1);
  await controller.resend(firstMessage(bench));
  assert.deepEqual([draftOf(bench), last()?.body, last()?.later], ["half of another", "at nine", later]);
  clock.advance(60_000);
  await controller.resend(firstMessage(bench));
  assert.deepEqual([draftOf(bench), last()?.body, last()?.later], ["half of another", "at nine", undefined]);
  await controller.stop();
});

Deno.test("a rejected message that is sent again waits like a new one, even across a reload [ux-outbox]", async () => {
  const bench = await rejected();
  bench.relay.refusal = undefined;
  bench.relay.away = true;
  await bench.controller.resend(firstMessage(bench));
  await bench.controller.stop();
  const next = await live(reloaded(bench));
  await until("the message", () => stateOf(next, firstMessage(bench).id) === "queued");
  await next.controller.stop();
});

for (
  const [what, ask] of [
    ["an answer", ({ controller }: Bench) => void controller.answer(idOf(3), { kind: "text", text: "yes" })],
    ["a request to start an agent", ({ controller }: Bench) => void controller.ask(START)],
    ["a cancellation", ({ controller, store }: Bench) => {
      const [message] = store.get().messages.values();
      if (message) void controller.cancel(message);
    }],
  ] as const
) {
  Deno.test(`${what} that the relay rejected is not requested again after a reload [ux-outbox]`, async () => {
    const bench = await live(phoneWith({ apiKey: "svc_k" }));
    await bench.controller.send(TO, "a message");
    bench.relay.refusal = "missing_scope";
    ask(bench);
    const last = () => [...bench.store.get().messages.values()].at(-1);
    await until("the failure", () => last()?.progress.kind === "failed");
    await until("the outbox to be empty", () => bench.storage.outbox.size === 0);
    bench.relay.refusal = undefined;
    const failed = last();
    assert.ok(failed);
    await bench.controller.resend(failed);
    assert.equal(stateOf(bench, failed.id), "queued", "the user may still try again");
    await bench.controller.stop();
  });
}

Deno.test("a request to start an agent is no longer sent after a long wait; a message is [ux-start, ux-outbox]", async () => {
  const bench = await live(phoneWith({ apiKey: "svc_k" }));
  const { controller, relay, clock, store } = bench;
  relay.away = true;
  const asked = controller.ask(START);
  await controller.send(TO, "of this morning");
  clock.advance(3_600_000);
  relay.away = false;
  clock.advance(60_000);
  await until("the message at the relay", () => relay.records.length === 1);
  assert.equal(relay.records[0]?.push.body, "of this morning");
  const progress = progressOf(store.get(), { id: asked, now: clock.now() });
  assert.deepEqual([progress.kind, "why" in progress && /in time/.test(progress.why)], ["failed", true]);
  await controller.stop();
});

Deno.test("a message that cannot be stored is still sent, and does not say that it survives a reload [ux-outbox]", async () => {
  const bench = await live(phoneWith({ apiKey: "svc_k" }));
  const { controller, relay, storage, clock } = bench;
  storage.isFull = true;
  relay.away = true;
  await controller.send(TO, "from a full phone");
  const { id, progress } = firstMessage(bench);
  assert.deepEqual(progress, { kind: "outbox", unsaved: true });
  relay.away = false;
  clock.advance(1_000);
  await until("the message at the relay", () => stateOf(bench, id) === "queued");
  await controller.cancel(firstMessage(bench));
  assert.equal(relay.records.at(-1)?.push.inReplyTo, id);
  await controller.stop();
});

Deno.test("the copy of a message that could not be removed is removed later [ux-outbox]", async () => {
  const bench = await live(phoneWith({ apiKey: "svc_k" }));
  const { controller, relay, storage } = bench;
  relay.away = true;
  await controller.send(TO, "kept for too long");
  relay.away = false;
  storage.isFull = true;
  controller.reconnectNow();
  bench.clock.advance(1_000);
  await until("the message at the relay", () => stateOf(bench, firstMessage(bench).id) === "queued");
  assert.equal(storage.outbox.size, 1);
  storage.isFull = false;
  await controller.send(TO, "the next one");
  assert.equal(storage.outbox.size, 0);
  await controller.stop();
});

Deno.test("unsent messages stay in the order in which they were written when the clock jumps [ux-outbox]", async () => {
  const bench = phoneWith({ apiKey: "svc_k" });
  await bench.controller.start();
  bench.sockets.last.welcome(NOW + 3_600_000);
  await until("the history", () => bench.store.get().history !== "unread");
  bench.relay.away = true;
  await bench.controller.send(TO, "first");
  await bench.controller.stop();
  const next = reloaded(bench);
  next.relay.away = true;
  await next.controller.start();
  // This page has not received the relay's clock yet.
  await next.controller.send(TO, "second");
  await next.controller.send(TO, "third");
  next.relay.away = false;
  next.clock.advance(5_000);
  await until("all of them", () => next.relay.records.length === 3);
  assert.deepEqual(next.relay.records.map(({ push }) => push.body), ["first", "second", "third"]);
  await next.controller.stop();
});

Deno.test("a message for later remains valid for an hour after its time, and waits a day for its agent [ux-later]", () => {
  const at = NOW + 2 * HOUR_MS;
  assert.equal(laterTtlSeconds({ kind: "at", at }, { now: NOW }), 3 * 3_600);
  assert.equal(laterTtlSeconds({ kind: "idle" }, { now: NOW }), 24 * 3_600);
  const resetsAt = NOW + 48 * HOUR_MS;
  assert.equal(laterTtlSeconds({ kind: "reset" }, { now: NOW, resetsAt }), 49 * 3_600);
  assert.equal(laterTtlSeconds({ kind: "reset" }, { now: NOW }), 24 * 3_600);
  assert.ok(laterTtlSeconds({ kind: "at", at: NOW + LATER_MAX_MS }, { now: NOW }) < TTL_MAX_SECONDS);
});

Deno.test("a time is sent by the relay's clock, and a relay that lies about its clock shifts it by at most ten minutes [ux-later, hostile-relay]", () => {
  const at = NOW + 86_400_000;
  const sent = (clockOffsetMs: number, isPaired = true) =>
    laterByRelay({ kind: "at", at }, { clockOffsetMs, isPaired });
  assert.deepEqual(sent(-3_000.4), { kind: "at", at: at - 3_000 });
  assert.deepEqual(sent(7_200_000), { kind: "at", at: at + SKEW_MS });
  assert.deepEqual(sent(-86_400_000), { kind: "at", at: at - SKEW_MS });
  assert.deepEqual(sent(-86_400_000, false), { kind: "at", at: at - 86_400_000 }, "its relay is believed");
  assert.deepEqual(laterByRelay({ kind: "idle" }, { clockOffsetMs: -1, isPaired: true }), { kind: "idle" });
});
