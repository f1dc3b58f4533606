/** Notifications that a relay did not get to send: after a restart, and when a question is sent again, phones are notified once. */
import assert from "node:assert/strict";
import { createWebPushApi } from "../../../src/client/web_push_api.ts";
import { createKey } from "../../../src/relay/api_keys.ts";
import { Tasks } from "../../../src/relay/handler.ts";
import { startRelay } from "../../../src/relay/server.ts";
import { openStore } from "../../../src/store/sqlite.ts";
import { ask, Peer } from "../../contract/relay_peer.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";
import { PushVendor } from "../../helpers/push_vendor.ts";
import { until } from "../../helpers/until.ts";
import { uuid } from "./fixture.ts";
import { HOST, type RungPhone, SESSION, Stage } from "./web_push_stage.ts";

const WAIT_MS = 1_000;
const BUSY = { status: 503, retryAfterSeconds: 100 };

/** Drops what waits to be sent, and begins the next run. */
async function restart({ relay }: Stage): Promise<void> {
  relay.services.webPush.stop();
  await relay.settle();
  relay.services.webPush = relay.makeWebPush();
}

async function resume({ relay }: Stage): Promise<void> {
  const { webPush, tasks } = relay.services;
  tasks.run(webPush.resume(WAIT_MS));
  await until("the wait", () => relay.clock.pending > 0);
  relay.clock.advance(WAIT_MS);
  await relay.settle();
}

async function idsAt(stage: Stage, phone: RungPhone): Promise<string[]> {
  return (await stage.sentTo(phone)).map(({ id }) => id);
}

/** Stores a question that notifies no phone, as when the relay is killed at this moment. */
async function askUnheard(stage: Stage, n: number, fields: Record<string, unknown> = {}): Promise<void> {
  stage.relay.services.webPush.stop();
  await stage.ask(n, fields);
  await restart(stage);
}

Deno.test("a question whose ring a restart lost rings after it, and only the phones that it has not reached [push-restart]", async () => {
  await using stage = await Stage.make();
  const [reached, missed] = [await stage.phone(), await stage.phone()];
  const { vendor } = stage.relay;
  stage.relay.vendor = (post) => {
    if (post.url === missed.subscriber.subscription.endpoint) stage.answers.push(BUSY);
    return vendor(post);
  };
  await stage.ask(1);
  await until(
    "one ring, and one that waits",
    async () => (await stage.record(1)).receipt.shown?.[reached.id]?.sent && stage.relay.clock.pending > 0,
  );
  await restart(stage);
  stage.relay.vendor = vendor;
  stage.posts.length = 0;
  await resume(stage);
  await resume(stage);
  assert.deepEqual([await idsAt(stage, reached), await idsAt(stage, missed)], [[], [uuid(1)]]);
  assert.notEqual((await stage.record(1)).receipt.shown?.[missed.id]?.sent, undefined);
});

Deno.test("after a restart nothing rings that is closed, that a phone has seen or did not want, or that is not a question [push-restart]", async () => {
  await using stage = await Stage.make();
  // The fake clock shows 08:00 UTC.
  const quiet = { from: "07:00", to: "09:00", timeZone: "Etc/UTC" };
  const asleep = await stage.phone({ off: [], sessions: {}, quiet });
  const [reader, other] = [await stage.phone(), await stage.phone()];
  stage.relay.services.webPush.stop();
  for (const n of [1, 2]) await stage.ask(n, { ttlSeconds: 86_400 });
  await stage.ask(3, { ttlSeconds: 600 });
  await stage.push({ id: uuid(4), type: "agent.stop", agentSessionName: SESSION });
  assert.equal(await stage.seen(1, reader), 204);
  await stage.relay.services.store.changeReceipt(
    { account: "default", id: uuid(2) },
    ({ receipt }) => ({ ...receipt, state: "withdrawn", final: true }),
  );
  await restart(stage);
  stage.relay.clock.advance(2 * 3_600_000);
  await resume(stage);
  assert.deepEqual([await idsAt(stage, asleep), await idsAt(stage, reader)], [[], []]);
  assert.deepEqual(await idsAt(stage, other), [uuid(1)]);
});

Deno.test("a question that was asked after the start is left to the node that accepted it [push-restart]", async () => {
  await using stage = await Stage.make();
  const phone = await stage.phone();
  const tasks = new Tasks((error) => assert.fail(String(error)));
  const starting = stage.relay.makeWebPush({ ...stage.relay.services, tasks });
  tasks.run(starting.resume(WAIT_MS));
  await until("the wait", () => stage.relay.clock.pending > 0);
  stage.answers.push(BUSY);
  await stage.ask(1);
  await until("a ring that waits", () => stage.posts.length === 1 && stage.relay.clock.pending > 1);
  stage.relay.clock.advance(WAIT_MS);
  await tasks.settled();
  assert.equal(stage.posts.length, 1);
  stage.relay.clock.advance(100_000);
  assert.deepEqual(await idsAt(stage, phone), [uuid(1), uuid(1)], "a try that was refused, and the next one");
});

Deno.test("a ring that another node has sent in the meantime is not sent again [push-restart]", async () => {
  await using stage = await Stage.make();
  const phone = await stage.phone();
  stage.answers.push(BUSY);
  await stage.ask(1);
  await until("a ring that waits", () => stage.relay.clock.pending > 0);
  const stored = await stage.relay.services.store.findPush({ account: "default", id: uuid(1) });
  assert.ok(stored);
  stage.relay.makeWebPush().remind(stored);
  await until("the other node's ring", async () => (await stage.record(1)).receipt.shown?.[phone.id]?.sent);
  stage.relay.clock.advance(100_000);
  assert.deepEqual(await idsAt(stage, phone), [uuid(1), uuid(1)], "a try that was refused, and one ring");
});

Deno.test("a question that is sent again rings once, on the phones that it has not reached [push-restart, proto-push-id]", async () => {
  await using stage = await Stage.make();
  const phone = await stage.phone();
  await askUnheard(stage, 1);
  assert.deepEqual(await idsAt(stage, phone), []);
  await stage.ask(1);
  await stage.ask(1);
  await stage.relay.settle();
  await stage.ask(1);
  assert.deepEqual(await idsAt(stage, phone), [uuid(1)]);
});

Deno.test("a question that is sent again does not wait twice for a phone [push-restart]", async () => {
  await using stage = await Stage.make();
  const phone = await stage.phone();
  await stage.relay.connect(phone.key);
  await stage.ask(1);
  await until("the time to report it in view", () => stage.relay.clock.pending > 0);
  await stage.ask(1);
  stage.relay.clock.advance(60_000);
  assert.deepEqual(await idsAt(stage, phone), [uuid(1)]);
  assert.doesNotMatch(stage.relay.metrics.render([]), /outcome="unnecessary"/);
});

Deno.test("a restarted relay rings for its open questions by itself [push-restart]", async () => {
  await using vendor = new PushVendor();
  const directory = await Deno.makeTempDir({ prefix: "svc-rings-" });
  const clock = new FakeClock();
  const options = {
    listen: "127.0.0.1:0",
    dataDir: `${directory}/data`,
    clock,
    webPushLoopback: true,
  };
  let relay = await startRelay(options);
  try {
    const store = await openStore(options.dataDir);
    const { key } = await createKey(store, { name: "k", scopes: ["push:read", "push:send"] });
    await store.close();
    const deviceId = "dev_phone_1";
    const phone = await Peer.greeted(relay.wsUrl, { key, hello: { deviceId } });
    const { subscription } = await vendor.subscribe("x");
    await createWebPushApi({ baseUrl: relay.url, apiKey: key }).saveWebPush(deviceId, subscription);
    await phone.leave();
    vendor.answers.push({ status: 503, retryAfter: "600" });
    const data = { kind: "ask", timeoutSeconds: 300, listener: HOST };
    const body = { id: uuid(1), type: "ask", body: "Deploy?", data };
    const sent = await ask(relay.url, { method: "POST", path: "/pushes/send", key, body });
    assert.equal(sent.status, 202);
    await until("a vendor that is busy", () => {
      clock.advance(1_000);
      return vendor.messages.length === 1;
    });
    await relay.stop();
    relay = await startRelay(options);
    await until("the ring", () => {
      clock.advance(1_000);
      return vendor.messages.length === 2;
    });
  } finally {
    await relay.stop();
    await Deno.remove(directory, { recursive: true });
  }
});
