/** The user's own messages while they are not settled: what a reload, a failure or a full disk leaves of them. */
import assert from "node:assert/strict";
import { until } from "../../helpers/until.ts";
import { type Bench, live, phoneWith, reloaded, stateOf, TO } from "./phone_bench.ts";
import { receiptOf } from "./samples.ts";

const KEY = "dev_listener_1/svc-demo";
const draftOf = ({ store }: Bench): string => store.get().drafts[KEY] ?? "";

function firstMessage({ store }: Bench) {
  const [message] = store.get().messages.values();
  assert.ok(message);
  return message;
}

Deno.test("a message that is edited without a link keeps its text over a reload, until it is the draft [ux-no-dead-end]", async () => {
  const bench = await live(phoneWith({ apiKey: "svc_k" }));
  bench.relay.away = true;
  await bench.controller.send(TO, "half an hour's writing");
  const { id } = firstMessage(bench);
  await bench.controller.edit(firstMessage(bench));
  await bench.controller.stop();

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

Deno.test("a message that was typed before its text could be edited is left alone [ux-no-dead-end]", async () => {
  const bench = await live(phoneWith({ apiKey: "svc_k" }));
  bench.relay.away = true;
  await bench.controller.send(TO, "typed already");
  const { id } = firstMessage(bench);
  await bench.controller.edit(firstMessage(bench));
  await bench.controller.stop();
  const next = await live(reloaded(bench));
  next.sockets.last.says("push.updated", { id, receipt: receiptOf("submitted") });
  await until("the outbox to be empty", () => next.storage.outbox.size === 0);
  assert.deepEqual([stateOf(next, id), draftOf(next)], ["submitted", ""]);
  next.controller.stop();
});
