/** The WebSocket without a port: admission, frames, and the passing of time. */
import assert from "node:assert/strict";
import { CLOSE } from "../../../src/protocol/errors.ts";
import { SOCKETS_PER_KEY } from "../../../src/protocol/limits.ts";
import { PushRecord } from "../../../src/protocol/push.ts";
import { CLOSE_GRACE_MS, HELLO_LIMIT_MS, UNREAD_MAX_BYTES } from "../../../src/relay/connection.ts";
import { Refusal } from "../../../src/relay/handler.ts";
import { EXPIRY_GRACE_MS, Upkeep } from "../../../src/relay/upkeep.ts";
import { admit } from "../../../src/relay/websocket.ts";
import { StoreUnavailable } from "../../../src/store/store.ts";
import { command, type FakeClient, FakeSocket, Fixture, helloOf, sessionNamed, uuid } from "./fixture.ts";

const LISTENER = "dev_listener_0a1b2c3d";

async function sendPush(relay: Fixture, n: number, fields: Record<string, unknown> = {}): Promise<void> {
  const key = await relay.key(["push:send"]);
  const answer = await relay.request("POST", "/pushes/send", {
    key,
    body: command({ id: uuid(n), ...fields }),
  });
  assert.equal(answer.status, 202);
}

async function receiptOf(relay: Fixture, n: number): Promise<PushRecord["receipt"]> {
  const answer = await relay.request("GET", `/pushes/${uuid(n)}`, { key: await relay.key() });
  return PushRecord.parse(await answer.json()).receipt;
}

const idsSent = (client: FakeClient): string[] => client.received("push.new").map(({ data }) => data.id);

/** Advances time in the relay's own steps. */
async function pass(relay: Fixture, ms: number, body: () => void = () => undefined): Promise<void> {
  for (let left = ms; left > 0; left -= 1_000) {
    relay.clock.advance(Math.min(left, 1_000));
    body();
    relay.services.hub.tick();
    await relay.upkeep.endDue();
    await relay.settle();
  }
}

Deno.test("a handshake without a valid key, scope or subprotocol is refused before the upgrade [ws-401, ws-scope, auth-ws, ws-no-key-in-url]", async () => {
  await using relay = await Fixture.make();
  const [reader, sender] = [await relay.key(["push:read"]), await relay.key(["push:send"])];
  const code = async (request: Request): Promise<string> => {
    const refused = await admit(relay.services, request).catch((error: unknown) => error);
    assert.ok(refused instanceof Refusal);
    return (await refused.response.json()).code;
  };
  assert.equal(await code(relay.handshake(undefined)), "unauthenticated");
  assert.equal(await code(relay.handshake(`svc_${"x".repeat(43)}`)), "unauthenticated");
  assert.equal(await code(relay.handshake(undefined, {}, `/ws?key=${reader}`)), "unauthenticated");
  assert.equal(await code(relay.handshake(sender)), "missing_scope");
  assert.equal(await code(relay.handshake(reader, {}, "/other")), "not_found");
  const foreign = new Request("http://relay/ws", {
    headers: { "sec-websocket-protocol": "mqtt", "x-api-key": reader },
  });
  assert.equal(await code(foreign), "invalid_request");
});

Deno.test("an error in handling a client's frame is reported and ends only its connection [ws-hostile-json]", async () => {
  await using relay = await Fixture.make();
  const other = await relay.listener();
  const client = await relay.connect(await relay.key());
  relay.services.streams.bytes = () => {
    throw new Error("a fault");
  };
  client.socket.handlers?.bytes(new Uint8Array([2]));
  assert.equal(client.socket.closedWith?.code, CLOSE.FAULT);
  await relay.settle();
  assert.deepEqual(relay.logged.filter((line) => line.startsWith("task failed")), [
    "task failed: Error: a fault",
  ]);
  assert.equal(other.socket.closedWith, undefined);
});

Deno.test("a key at its limit of sockets is refused another until one closes, and other keys are unaffected [http-problem]", async () => {
  await using relay = await Fixture.make();
  const [key, other] = [await relay.key(), await relay.key()];
  const open = async (one: string): Promise<FakeSocket> => {
    const take = await admit(relay.services, relay.handshake(one));
    const socket = new FakeSocket();
    socket.handlers = take(socket);
    relay.clock.advance(1_000);
    return socket;
  };
  const sockets = [];
  for (let n = 0; n < SOCKETS_PER_KEY; n++) sockets.push(await open(key));
  const refused = await open(key).catch((error: unknown) => error);
  assert.ok(refused instanceof Refusal);
  const problem = await refused.response.json();
  assert.deepEqual([problem.status, problem.code], [429, "too_many_sockets"]);
  assert.equal(refused.response.headers.get("retry-after"), "30");
  await open(other);
  sockets[0]?.terminate();
  await open(key);
});

Deno.test("the key is read from the subprotocol or the header [ws-key-subprotocol]", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key(["push:read"]);
  assert.equal(typeof await admit(relay.services, relay.handshake(key)), "function");
  assert.equal(
    typeof await admit(relay.services, relay.handshake(undefined, { "x-api-key": key })),
    "function",
  );
  const bare = new Request("http://relay/ws", { headers: { "x-api-key": key } });
  assert.equal(typeof await admit(relay.services, bare), "function");
});

Deno.test("hello is answered with version, protocol, limits and clock [ws-hello, ev-hello, ws-control]", async () => {
  await using relay = await Fixture.make();
  const client = await relay.open(await relay.key());
  await client.send("hello", helloOf({ role: "phone", deviceId: "dev_phone_1" }), "h1");
  const [welcome] = client.received("welcome");
  assert.equal(welcome?.re, "h1");
  assert.deepEqual([welcome?.data.deviceId, welcome?.data.protocolVersion], ["dev_phone_1", 1]);
  assert.equal(welcome?.data.now, relay.clock.now());
  assert.equal(welcome?.data.limits["bodyBytes"], 16_384);
  await client.send("ping", {}, "p1");
  assert.equal(client.received("pong")[0]?.re, "p1");
});

Deno.test("a first frame other than hello, a wrong device and a wrong role close with a reason", async () => {
  await using relay = await Fixture.make();
  const bound = await relay.key(["push:read"], { deviceId: "dev_phone_1" });
  const free = await relay.key(["push:read"]);
  const closeOf = async (key: string, text: string): Promise<string> => {
    const client = await relay.open(key);
    await client.sendText(text);
    return `${client.socket.closedWith?.code} ${client.socket.closedWith?.reason}`;
  };
  const hello = (fields: Parameters<typeof helloOf>[0]): string =>
    JSON.stringify({ event: "hello", data: helloOf(fields) });
  assert.match(
    await closeOf(free, `{"event":"listener.sessions","data":{"sequence":1,"sessions":[]}}`),
    /^1008 hello/,
  );
  assert.match(await closeOf(bound, hello({ deviceId: "dev_phone_2" })), /^1008 the key belongs/);
  assert.match(await closeOf(free, hello({ role: "listener" })), /^1008 a listener needs/);
  assert.match(await closeOf(free, hello({ deviceId: "nonsense" })), /^1008 .*deviceId/);
  assert.equal(
    (await relay.connect(free, { role: "listener", deviceId: LISTENER })).socket.closedWith,
    undefined,
  );
  assert.match(
    await closeOf(free, hello({ role: "phone", deviceId: LISTENER })),
    /^1008 wrong_role: the device id is a listener's/,
  );
});

Deno.test("a bounded number of frames sent before the welcome waits for it", async () => {
  await using relay = await Fixture.make();
  const client = await relay.open(await relay.key());
  client.socket.handlers?.text(
    JSON.stringify({ event: "hello", data: helloOf({ role: "listener", deviceId: LISTENER }) }),
  );
  client.socket.handlers?.text(
    JSON.stringify({ event: "listener.sessions", id: "s", data: { sequence: 1, sessions: [] } }),
  );
  await relay.settle();
  assert.deepEqual(client.received("listener.stored")[0], {
    event: "listener.stored",
    re: "s",
    data: { count: 0 },
    id: undefined,
  });
  const flood = await relay.open(await relay.key());
  flood.socket.handlers?.text(JSON.stringify({ event: "hello", data: helloOf() }));
  for (let n = 0; n < 40; n++) flood.socket.handlers?.text('{"event":"ping"}');
  assert.equal(flood.socket.closedWith?.code, 1008);
});

Deno.test("an inventory is stored and answered, and an invalid one is rejected with the reason [ev-sessions-answer, ws-sessions-stored]", async () => {
  await using relay = await Fixture.make();
  const listener = await relay.listener();
  await listener.send("listener.sessions", { sequence: 7, sessions: [sessionNamed("svc-p")] }, "r1");
  assert.deepEqual(listener.received("listener.stored").map(({ re, data }) => [re, data.count]), [["r1", 1]]);
  await listener.sendText(
    '{"event":"listener.sessions","id":"r2","data":{"sequence":1,"sessions":[{"name":7}]}}',
  );
  const [rejected] = listener.received("listener.rejected");
  assert.equal(rejected?.re, "r2");
  assert.match(rejected?.data.reason ?? "", /name/);
  const save = relay.services.store.saveInventory;
  relay.services.store.saveInventory = () => Promise.reject(new StoreUnavailable("full"));
  await listener.send("listener.sessions", { sequence: 8, sessions: [] }, "r3");
  assert.equal(listener.received("listener.rejected")[1]?.data.reason, "store_unavailable");
  relay.services.store.saveInventory = save;
});

Deno.test("phones are notified of sessions, receipts, and listeners going on and offline [ev-sessions-changed, ev-push-updated, rcpt-live]", async () => {
  await using relay = await Fixture.make();
  const phone = await relay.connect(await relay.key(), { deviceId: "dev_phone_1" });
  const listener = await relay.listener();
  await listener.send("listener.sessions", { sequence: 1, sessions: [sessionNamed("svc-p")] });
  await sendPush(relay, 1);
  await listener.send("push.ack", { id: uuid(1), outcome: "delivered", final: false });
  await listener.send("push.ack", { id: uuid(1), outcome: "delivered", final: false });
  await listener.send("push.ack", { id: uuid(1), outcome: "submitted", final: true });
  listener.leave();
  await relay.settle();
  const seen = phone.received("sessions.changed").map(({ data }) => [data.online, data.sessions.length]);
  assert.deepEqual(seen, [[true, 0], [true, 1], [false, 1]]);
  const states = phone.received("push.updated").map(({ data }) => data.receipt.state);
  assert.deepEqual(states, ["delivered", "submitted"]);
});

Deno.test("a push is resent until acknowledged, even after a reconnect, and only to its listener [ev-push-resend, ws-push-new]", async () => {
  await using relay = await Fixture.make();
  const other = await relay.listener("dev_listener_other");
  const first = await relay.listener();
  await sendPush(relay, 1, { targetDeviceId: LISTENER });
  await sendPush(relay, 2, { targetDeviceId: LISTENER });
  await first.send("push.ack", { id: uuid(1), outcome: "submitted", final: true });
  await pass(relay, 11_000);
  assert.deepEqual(idsSent(first), [uuid(1), uuid(2), uuid(2), uuid(2)]);
  first.leave();
  await relay.settle();
  await sendPush(relay, 3, { targetDeviceId: LISTENER });
  const second = await relay.listener();
  assert.deepEqual(idsSent(second), [uuid(2), uuid(3)]);
  await second.send("push.ack", { id: uuid(2), outcome: "delivered", final: false });
  await second.send("push.ack", { id: uuid(3), outcome: "refused", reason: "pane_dead", final: true });
  await pass(relay, 11_000);
  assert.deepEqual(idsSent(second), [uuid(2), uuid(3)]);
  assert.deepEqual(idsSent(other), []);
  const { state, reason, final } = await receiptOf(relay, 3);
  assert.deepEqual([state, reason, final], ["refused", "pane_dead", true]);
});

Deno.test("a late acknowledgement of a closed push is accepted and changes nothing, and no client can acknowledge for another listener [ev-push-ack]", async () => {
  await using relay = await Fixture.make();
  const [mine, other] = [await relay.listener(), await relay.listener("dev_listener_other")];
  const phone = await relay.connect(await relay.key(), { role: "phone" });
  await sendPush(relay, 1, { targetDeviceId: LISTENER });
  await other.send("push.ack", { id: uuid(1), outcome: "refused", final: true });
  await phone.send("push.ack", { id: uuid(1), outcome: "refused", final: true });
  assert.equal((await receiptOf(relay, 1)).state, "queued");
  await mine.send("push.ack", { id: uuid(1), outcome: "submitted", final: true });
  await mine.send("push.ack", { id: uuid(1), outcome: "refused", final: true });
  await mine.send("push.ack", { id: uuid(9), outcome: "refused", final: true });
  assert.equal((await receiptOf(relay, 1)).state, "submitted");
  assert.deepEqual(mine.socket.closedWith, undefined);
});

Deno.test("a second connection of a listener replaces the first, whose close does not make the listener offline", async () => {
  await using relay = await Fixture.make();
  const phone = await relay.connect(await relay.key(), { role: "phone" });
  const first = await relay.listener();
  const second = await relay.listener();
  assert.equal(first.socket.closedWith?.code, 4409);
  await sendPush(relay, 1);
  assert.deepEqual([idsSent(first).length, idsSent(second).length], [0, 1]);
  assert.equal(phone.received("sessions.changed").at(-1)?.data.online, true);
  const key = await relay.key();
  const two = [
    await relay.connect(key, { deviceId: "dev_phone_1" }),
    await relay.connect(key, { deviceId: "dev_phone_1" }),
  ];
  assert.deepEqual(two.map(({ socket }) => socket.closedWith), [undefined, undefined]);
});

Deno.test("a silent connection is pinged every 20 s and ended after 40 s [ws-ping]", async () => {
  await using relay = await Fixture.make();
  const [quiet, lively] = [await relay.listener(), await relay.connect(await relay.key())];
  await pass(relay, 39_000, () => lively.socket.handlers?.alive());
  assert.deepEqual([quiet.socket.pings, quiet.socket.terminated], [1, false]);
  await pass(relay, 1_000, () => lively.socket.handlers?.alive());
  assert.deepEqual([quiet.socket.terminated, lively.socket.terminated], [true, false]);
  assert.equal(lively.received("sessions.changed").at(-1)?.data.online, false);
});

Deno.test("a client that sends no hello in time is closed, and terminated if it does not answer", async () => {
  await using relay = await Fixture.make();
  const client = await relay.open(await relay.key());
  client.socket.deaf = true;
  await pass(relay, HELLO_LIMIT_MS);
  assert.equal(client.socket.closedWith?.code, 1008);
  assert.equal(client.socket.terminated, false);
  await pass(relay, CLOSE_GRACE_MS);
  assert.equal(client.socket.terminated, true);
  assert.equal(relay.services.hub.size, 0);
});

Deno.test("a client that reads too slowly is closed, counted, and starts again from the store [style-bounded]", async () => {
  await using relay = await Fixture.make();
  const listener = await relay.listener();
  listener.socket.unread = UNREAD_MAX_BYTES + 1;
  await sendPush(relay, 1);
  assert.equal(listener.socket.closedWith?.code, 4413);
  assert.match(relay.metrics.render([]), /svc_slow_clients_total 1/);
  assert.deepEqual(idsSent(await relay.listener()), [uuid(1)]);
});

Deno.test("unknown events and invalid frames are ignored and counted [ws-unknown]", async () => {
  await using relay = await Fixture.make();
  const client = await relay.connect(await relay.key());
  for (const text of ['{"event":"from.the.future","data":{}}', "junk", '{"event":"push.ack","data":{}}']) {
    await client.sendText(text);
  }
  client.socket.handlers?.bytes(new Uint8Array(3));
  await client.send("push.updated", { id: uuid(1), receipt: { state: "typed", final: true, at: {} } });
  assert.equal(client.socket.closedWith, undefined);
  const counted = relay.metrics.render([]);
  assert.match(counted, /svc_unknown_events_total 2/);
  assert.match(counted, /svc_malformed_frames_total 2/);
});

Deno.test("a push that no listener received expires on time, and phones are notified [proto-push-ttl, rcpt-ends]", async () => {
  await using relay = await Fixture.make();
  (await relay.listener()).leave();
  await relay.settle();
  const phone = await relay.connect(await relay.key());
  relay.clock.advance(1);
  await sendPush(relay, 1, { ttlSeconds: 10 });
  await pass(relay, 9_000);
  assert.equal((await receiptOf(relay, 1)).state, "queued");
  await pass(relay, 1_000);
  assert.equal((await receiptOf(relay, 1)).state, "expired");
  assert.equal(phone.received("push.updated")[0]?.data.receipt.state, "expired");
  assert.deepEqual(idsSent(await relay.listener()), []);
});

Deno.test("a push that a listener received but never finished becomes unknown after the grace period [rcpt-ends]", async () => {
  await using relay = await Fixture.make();
  const listener = await relay.listener();
  await sendPush(relay, 1, { ttlSeconds: 10 });
  await listener.send("push.ack", { id: uuid(1), outcome: "held", reason: "dialog_open", final: false });
  listener.leave();
  await relay.settle();
  relay.clock.advance(10_000 + EXPIRY_GRACE_MS - 1);
  await relay.upkeep.endDue();
  assert.equal((await receiptOf(relay, 1)).state, "held");
  relay.clock.advance(1);
  await relay.upkeep.endDue();
  assert.deepEqual([(await receiptOf(relay, 1)).state, (await receiptOf(relay, 1)).final], ["unknown", true]);
});

Deno.test("a push that expired because the relay's clock jumped, or while it was down, is left to its listener for the grace period [rcpt-ends, fault-clock]", async () => {
  await using relay = await Fixture.make();
  const listener = await relay.listener();
  await sendPush(relay, 1, { ttlSeconds: 10 });
  await listener.send("push.ack", { id: uuid(1), outcome: "held", reason: "dialog_open", final: false });
  await relay.settle();
  relay.clock.advance(EXPIRY_GRACE_MS);
  relay.clock.jump(86_400_000);
  await relay.upkeep.endDue();
  assert.equal((await receiptOf(relay, 1)).state, "held");
  await listener.send("push.ack", { id: uuid(1), outcome: "submitted", final: true });
  await relay.settle();
  assert.equal((await receiptOf(relay, 1)).state, "submitted");
  await sendPush(relay, 2, { ttlSeconds: 10 });
  await relay.settle();
  relay.clock.advance(10_000 + EXPIRY_GRACE_MS);
  const restarted = new Upkeep(relay.services);
  await restarted.endDue();
  assert.notEqual((await receiptOf(relay, 2)).state, "unknown");
  relay.clock.advance(EXPIRY_GRACE_MS);
  await restarted.endDue();
  assert.equal((await receiptOf(relay, 2)).state, "unknown");
});

Deno.test("many expired pushes are all ended in one call, a page at a time", async () => {
  await using relay = await Fixture.make();
  (await relay.listener()).leave();
  await relay.settle();
  relay.clock.advance(1);
  const key = await relay.key(["push:send"]);
  await Promise.all(
    Array.from(
      { length: 199 },
      (_, n) => relay.request("POST", "/pushes/send", { key, body: command({ id: uuid(n) }) }),
    ),
  );
  relay.clock.advance(60_000);
  await Promise.all(
    Array.from(
      { length: 199 },
      (_, n) => relay.request("POST", "/pushes/send", { key, body: command({ id: uuid(500 + n) }) }),
    ),
  );
  relay.clock.advance(3_600_000);
  await relay.upkeep.endDue();
  const { store } = relay.services;
  assert.deepEqual(await store.duePushes({ now: relay.clock.now(), limit: 9 }), []);
});

Deno.test("data older than its retention is removed [rl-retention]", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key();
  await relay.request("POST", "/pushes/send", { key, body: { id: uuid(1), type: "note" } });
  relay.clock.advance(30 * 86_400_000);
  await relay.upkeep.forgetOld();
  assert.equal((await relay.request("GET", `/pushes/${uuid(1)}`, { key })).status, 200);
  relay.clock.advance(1);
  await relay.upkeep.forgetOld();
  assert.equal((await relay.request("GET", `/pushes/${uuid(1)}`, { key })).status, 404);
});

Deno.test("a key revoked between handshake and hello is refused", async () => {
  await using relay = await Fixture.make();
  const client = await relay.open(await relay.key());
  const [record] = await relay.services.store.listKeys();
  await relay.services.store.revokeKey(record?.id ?? "", relay.clock.now());
  await client.send("hello", helloOf());
  assert.equal(client.socket.closedWith?.code, 4401);
});

Deno.test("a stopping relay closes every client so that it reconnects [ws-1012]", async () => {
  await using relay = await Fixture.make();
  const clients = [await relay.listener(), await relay.connect(await relay.key())];
  await relay.services.hub.stop();
  assert.deepEqual(clients.map(({ socket }) => socket.closedWith?.code), [1012, 1012]);
  const late = await relay.open(await relay.key());
  assert.equal(late.socket.closedWith?.code, 1012);
});

Deno.test("metrics report connections, outcomes and times [http-metrics]", async () => {
  await using relay = await Fixture.make();
  const listener = await relay.listener();
  await sendPush(relay, 1);
  relay.clock.advance(20);
  await listener.send("push.ack", { id: uuid(1), outcome: "delivered", final: false });
  relay.clock.advance(300);
  await listener.send("push.ack", { id: uuid(1), outcome: "submitted", final: true });
  const text = relay.metrics.render([relay.services.hub.gauge]);
  for (
    const line of [
      'svc_connections{role="listener"} 1',
      'svc_pushes_total{outcome="accepted"} 1',
      'svc_pushes_total{outcome="submitted"} 1',
      'svc_push_delivered_seconds_bucket{le="0.025"} 1',
      "svc_push_delivered_seconds_sum 0.02",
      'svc_push_final_seconds_bucket{le="0.25"} 0',
      'svc_push_final_seconds_bucket{le="0.5"} 1',
    ]
  ) assert.ok(text.split("\n").includes(line), `${line}\n${text}`);
});
