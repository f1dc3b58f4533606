/** Pushes: where they are sent, that they are stored once, and how they are read back. */
import assert from "node:assert/strict";
import { PushAccepted, PushPage, PushRecord } from "../../../src/protocol/push.ts";
import { until } from "../../helpers/until.ts";
import { command, Fixture, sessionNamed, uuid } from "./fixture.ts";

async function send(
  relay: Fixture,
  key: string,
  body: unknown,
): Promise<{ status: number; answer: Record<string, unknown> }> {
  const response = await relay.request("POST", "/pushes/send", { key, body });
  return { status: response.status, answer: await response.json() };
}

async function recordOf(relay: Fixture, key: string, id: string): Promise<PushRecord> {
  return PushRecord.parse(await (await relay.request("GET", `/pushes/${id}`, { key })).json());
}

Deno.test("an accepted push is 202 with id, state and expiry, and can be read back [http-202, http-get-push, http-headers, http-send, enc-default-off, style-request-response]", async () => {
  await using relay = await Fixture.make();
  await relay.listener();
  const key = await relay.key();
  const now = relay.clock.now();
  const { status, answer } = await send(relay, key, command({ title: "t", data: { a: 1 }, ttlSeconds: 10 }));
  const accepted = PushAccepted.parse(answer);
  assert.deepEqual([status, accepted.state, accepted.expiresAt], [202, "queued", now + 10_000]);
  const { push, receipt } = await recordOf(relay, key, accepted.id);
  assert.deepEqual([push.body, push.title, push.data, push.targetDeviceId], [
    "hello",
    "t",
    { a: 1 },
    "dev_listener_0a1b2c3d",
  ]);
  assert.deepEqual(receipt, { state: "queued", final: false, at: { queued: now } });
});

Deno.test("a repeated push gets the first answer and is sent once; different content is 409 [proto-push-id, http-409]", async () => {
  await using relay = await Fixture.make();
  const listener = await relay.listener();
  const key = await relay.key();
  const first = await send(relay, key, command({ id: uuid(1) }));
  await listener.send("push.ack", { id: uuid(1), outcome: "submitted", final: true });
  relay.clock.advance(5_000);
  const again = await send(relay, key, { body: "hello", ...command({ id: uuid(1) }), ttlSeconds: 3600 });
  assert.deepEqual(again, first);
  assert.equal(listener.received("push.new").length, 1);
  const other = await send(relay, key, command({ id: uuid(1), body: "other" }));
  assert.deepEqual([other.status, other.answer["code"]], [409, "id_reused"]);
  const page = await relay.request("GET", "/pushes", { key });
  assert.equal(PushPage.parse(await page.json()).pushes.length, 1);
});

Deno.test("a repeated push may have its data in another order, but not with another value [proto-push-id, http-409]", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key();
  const note = (data: unknown) => send(relay, key, { id: uuid(1), type: "note", body: "n", data });
  const first = await note({ a: 1, b: { c: [{ d: 1, e: 2 }], f: null } });
  assert.equal(first.status, 202);
  assert.deepEqual(await note({ b: { f: null, c: [{ e: 2, d: 1 }] }, a: 1 }), first);
  assert.equal((await note({ b: { f: null, c: [{ e: 2, d: 2 }] }, a: 1 })).status, 409);
  assert.equal((await note(undefined)).status, 409);
});

Deno.test("a repeated push gets the first answer even if its listener has changed [proto-push-id]", async () => {
  await using relay = await Fixture.make();
  await relay.listener();
  const key = await relay.key();
  const first = await send(relay, key, command({ id: uuid(1) }));
  await relay.listener("dev_listener_other");
  assert.equal((await send(relay, key, command({ id: uuid(2) }))).status, 404);
  assert.deepEqual(await send(relay, key, command({ id: uuid(1) })), first);
});

Deno.test("a message is announced to its listener before it is stored, unless others are in flight or it was sent before [ev-push-soon]", async () => {
  await using relay = await Fixture.make();
  const listener = await relay.listener();
  const key = await relay.key();
  const { store } = relay.services;
  const insert = store.insertPush;
  let stored: () => void = () => {};
  store.insertPush = async (push) => {
    await new Promise<void>((resolve) => stored = resolve);
    return await insert(push);
  };
  const sending = send(relay, key, command({ id: uuid(1) }));
  await until("the announcement", () => listener.received("push.soon").length === 1);
  assert.deepEqual(listener.received("push.soon")[0]?.data, { id: uuid(1), agentSessionName: "svc-p" });
  assert.equal(listener.received("push.new").length, 0);
  stored();
  await sending;
  store.insertPush = insert;
  assert.equal(listener.received("push.new").length, 1);
  await send(relay, key, command({ id: uuid(2) }));
  assert.equal(listener.received("push.soon").length, 1, "one is in flight");
  for (const id of [uuid(1), uuid(2)]) {
    await listener.send("push.ack", { id, outcome: "submitted", final: true });
  }
  await send(relay, key, command({ id: uuid(1) }));
  assert.equal(listener.received("push.soon").length, 1, "it was sent before");
  const { answer } = await send(relay, key, command({}));
  assert.equal(listener.received("push.soon")[1]?.data.id, answer["id"]);
});

Deno.test("the same push sent concurrently is stored once", async () => {
  await using relay = await Fixture.make();
  const listener = await relay.listener();
  const key = await relay.key();
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => send(relay, key, command({ id: uuid(1) }))),
  );
  assert.equal(new Set(answers.map((one) => JSON.stringify(one))).size, 1);
  assert.equal(listener.received("push.new").length, 1);
});

Deno.test("accounts cannot see each other's pushes, sessions or devices [rl-accounts]", async () => {
  await using relay = await Fixture.make();
  await relay.listener();
  const mine = await relay.key();
  const theirs = await relay.key(["push:send", "push:read", "admin"], { account: "other" });
  await send(relay, mine, command({ id: uuid(1) }));
  assert.equal((await relay.request("GET", `/pushes/${uuid(1)}`, { key: theirs })).status, 404);
  assert.deepEqual(await (await relay.request("GET", "/pushes", { key: theirs })).json(), { pushes: [] });
  assert.deepEqual(await (await relay.request("GET", "/devices", { key: theirs })).json(), { devices: [] });
  assert.deepEqual(await (await relay.request("GET", "/sessions", { key: theirs })).json(), { devices: [] });
  assert.equal(
    (await relay.request("DELETE", "/devices/dev_listener_0a1b2c3d", { key: theirs })).status,
    404,
  );
  const sent = await send(relay, theirs, command({ targetDeviceId: "dev_listener_0a1b2c3d" }));
  assert.deepEqual([sent.status, sent.answer["code"]], [404, "unknown_device"]);
  assert.equal((await send(relay, theirs, command({ id: uuid(1), targetDeviceId: undefined }))).status, 404);
});

Deno.test("a message goes to the listener that has the session; with two it is ambiguous [spec-fan-out]", async () => {
  await using relay = await Fixture.make();
  const [one, two] = [await relay.listener("dev_listener_one"), await relay.listener("dev_listener_two")];
  await one.send("listener.sessions", {
    sequence: 1,
    sessions: [sessionNamed("svc-p"), sessionNamed("svc-both")],
  });
  await two.send("listener.sessions", { sequence: 1, sessions: [sessionNamed("svc-both")] });
  const key = await relay.key();
  assert.equal((await send(relay, key, command())).status, 202);
  assert.deepEqual([one.received("push.new").length, two.received("push.new").length], [1, 0]);
  const both = await send(relay, key, command({ agentSessionName: "svc-both" }));
  assert.deepEqual([both.status, both.answer["code"]], [409, "ambiguous_session"]);
  assert.match(String(both.answer["detail"]), /dev_listener_one and dev_listener_two/);
  const named = await send(
    relay,
    key,
    command({ agentSessionName: "svc-both", targetDeviceId: "dev_listener_two" }),
  );
  assert.equal(named.status, 202);
  assert.equal(two.received("push.new").length, 1);
  const none = await send(relay, key, command({ agentSessionName: "svc-none" }));
  assert.deepEqual([none.status, none.answer["code"]], [404, "unknown_device"]);
});

Deno.test("a message for an unknown session goes to the only listener, which answers; without one it is 404 [http-404]", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key();
  const early = await send(relay, key, command());
  assert.deepEqual([early.status, early.answer["code"]], [404, "unknown_device"]);
  const listener = await relay.listener();
  assert.equal((await send(relay, key, command({ agentSessionName: "svc-none" }))).status, 202);
  assert.equal(listener.received("push.new")[0]?.data.agentSessionName, "svc-none");
  const phone = await relay.connect(await relay.key(), { role: "phone", deviceId: "dev_phone_1" });
  const wrong = await send(relay, key, command({ targetDeviceId: "dev_phone_1" }));
  assert.equal(wrong.answer["code"], "unknown_device");
  assert.equal(phone.received("push.new").length, 0);
});

Deno.test("other types go to phones and scripts and are delivered at once, or to a named listener [type-note]", async () => {
  await using relay = await Fixture.make();
  const listener = await relay.listener();
  const phone = await relay.connect(await relay.key(), { role: "phone", deviceId: "dev_phone_1" });
  const script = await relay.connect(await relay.key(), { role: "script" });
  const key = await relay.key();
  const note = await send(relay, key, { type: "note", body: "hi" });
  assert.equal(note.answer["state"], "delivered");
  const { receipt } = await recordOf(relay, key, String(note.answer["id"]));
  assert.deepEqual([receipt.state, receipt.final], ["delivered", true]);
  const counts = (): number[] =>
    [listener, phone, script].map((client) => client.received("push.new").length);
  assert.deepEqual(counts(), [0, 1, 1]);
  await send(relay, key, { type: "note", body: "hi", targetDeviceId: "dev_phone_1" });
  assert.deepEqual(counts(), [0, 2, 1]);
  const named = await send(relay, key, { type: "brand.new", targetDeviceId: "dev_listener_0a1b2c3d" });
  assert.equal(named.answer["state"], "queued");
  assert.deepEqual(counts(), [1, 2, 1]);
});

Deno.test("a broadcast reaches every device of the account once and no other account, and a listener's acknowledgement does not change it [type-broadcast]", async () => {
  await using relay = await Fixture.make();
  const listeners = [await relay.listener(), await relay.listener("dev_listener_other")];
  const phone = await relay.connect(await relay.key(), { role: "phone", deviceId: "dev_phone_1" });
  const script = await relay.connect(await relay.key(), { role: "script" });
  const stranger = await relay.connect(await relay.key(undefined, { account: "other" }), { role: "phone" });
  const key = await relay.key();
  const sent = await send(relay, key, { id: uuid(1), type: "broadcast", title: "Going down at noon" });
  assert.equal(sent.answer["state"], "delivered");
  for (const client of [...listeners, phone, script]) {
    assert.deepEqual(client.received("push.new").map(({ data }) => data.title), ["Going down at noon"]);
  }
  assert.equal(stranger.received("push.new").length, 0);
  await listeners[0]?.send("push.ack", { id: uuid(1), outcome: "ignored", final: true });
  assert.equal((await recordOf(relay, key, uuid(1))).receipt.state, "delivered");
  relay.clock.advance(6_000);
  relay.services.hub.tick();
  assert.deepEqual(listeners.map((client) => client.received("push.new").length), [1, 2]);
});

Deno.test("history pages forward and backward, newest last [http-history]", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key();
  for (let n = 1; n <= 5; n++) await send(relay, key, { id: uuid(n), type: "note" });
  const page = async (query: string): Promise<{ ids: string[]; next: string | undefined }> => {
    const answer = await relay.request("GET", `/pushes?${query}`, { key });
    const { pushes, next } = PushPage.parse(await answer.json());
    return { ids: pushes.map(({ push }) => push.id), next };
  };
  assert.deepEqual(await page("limit=2"), { ids: [uuid(1), uuid(2)], next: uuid(2) });
  assert.deepEqual(await page(`limit=2&after=${uuid(2)}`), { ids: [uuid(3), uuid(4)], next: uuid(4) });
  assert.deepEqual(await page(`limit=2&after=${uuid(4)}`), { ids: [uuid(5)], next: undefined });
  assert.deepEqual(await page("limit=2&before=end"), { ids: [uuid(4), uuid(5)], next: uuid(4) });
  assert.deepEqual(await page(`limit=9&before=${uuid(3)}`), { ids: [uuid(1), uuid(2)], next: undefined });
  for (
    const query of [
      "limit=0",
      "limit=201",
      "limit=x",
      "limit=0x5",
      "limit=1e1",
      "after=x",
      `after=${uuid(99)}`,
      `after=${uuid(1)}&before=end`,
      "open=notes",
    ]
  ) {
    const answer = await relay.request("GET", `/pushes?${query}`, { key });
    assert.equal((await answer.json()).code, "invalid_request", query);
  }
});

Deno.test("the history can list only open questions, whatever came after them [ux-old-open]", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key();
  const ask = { type: "ask", body: "Deploy?", data: { kind: "ask", timeoutSeconds: 120 } };
  for (const n of [1, 2]) await send(relay, key, { id: uuid(n), ...ask, agentSessionName: "svc-demo" });
  for (const n of [3, 4]) await send(relay, key, { id: uuid(n), type: "note" });
  const open = async (query: string): Promise<string[]> => {
    const answer = await relay.request("GET", `/pushes?open=questions&${query}`, { key });
    return PushPage.parse(await answer.json()).pushes.map(({ push }) => push.id);
  };
  assert.deepEqual(await open("before=end"), [uuid(1), uuid(2)]);
  assert.deepEqual(await open("limit=1"), [uuid(1)]);
});

Deno.test("a push names its sender by device, or by key [sec-leaked-key]", async () => {
  await using relay = await Fixture.make();
  const bound = await relay.key(["push:send"], { deviceId: "dev_phone_1" });
  const free = await relay.key(["push:send"]);
  for (const [key, from] of [[bound, /^dev_phone_1$/], [free, /^key_/]] as const) {
    const { answer } = await send(relay, key, { type: "note" });
    assert.match((await recordOf(relay, key, String(answer["id"]))).push.from, from);
  }
});

Deno.test("an unknown push is 404 [http-404]", async () => {
  await using relay = await Fixture.make();
  const answer = await relay.request("GET", `/pushes/${uuid(1)}`, { key: await relay.key() });
  assert.deepEqual([answer.status, (await answer.json()).code], [404, "unknown_push"]);
});

Deno.test("only a user's key ends an agent or mutes a project [type-end, type-mute]", async () => {
  await using relay = await Fixture.make();
  await relay.listener();
  const scopes = ["push:send", "push:read"] as const;
  const keys = {
    script: await relay.key(scopes, { role: "script" }),
    listener: await relay.key(scopes, { role: "listener", deviceId: "dev_listener_bbbbbbbb" }),
    phone: await relay.key(scopes, { role: "phone", deviceId: "dev_phone_2" }),
    any: await relay.key(scopes),
  };
  for (const type of ["agent.end", "project.mute"]) {
    for (const [kind, key] of Object.entries(keys)) {
      const { status, answer } = await send(relay, key, command({ type, body: "x" }));
      const isUsers = kind === "phone" || kind === "any";
      assert.deepEqual([status, answer["code"]], isUsers ? [202, undefined] : [403, "wrong_role"], kind);
    }
  }
});
