/** Cancelling a message: at the relay if it was never sent, else by its listener, which gets the cancellation first. */
import assert from "node:assert/strict";
import { PushRecord } from "../../../src/protocol/push.ts";
import { CLAIMS_MAX, PushClaims } from "../../../src/relay/outbox.ts";
import { command, type FakeClient, Fixture, uuid } from "./fixture.ts";

const LISTENER = "dev_listener_0a1b2c3d";
const [MESSAGE, CANCEL] = [uuid(1), uuid(2)];

function post(relay: Fixture, key: string, body: unknown): Promise<Response> {
  return relay.request("POST", "/pushes/send", { key, body });
}

function cancel(relay: Fixture, key: string): Promise<Response> {
  const body = { type: "agent.cancel", id: CANCEL, targetDeviceId: LISTENER, agentSessionName: "svc-p" };
  return post(relay, key, { ...body, inReplyTo: MESSAGE });
}

async function stateOf(relay: Fixture, key: string): Promise<string> {
  const record = await (await relay.request("GET", `/pushes/${MESSAGE}`, { key })).json();
  return PushRecord.parse(record).receipt.state;
}

/** Connects a listener that then goes offline; resolves with another key. */
async function withoutListener(relay: Fixture): Promise<string> {
  (await relay.listener(LISTENER)).socket.handlers?.closed(1006);
  await relay.settle();
  return await relay.key();
}

const idsOf = (client: FakeClient): string[] => client.received("push.new").map(({ data }) => data.id);

Deno.test("a message that waits at the relay is cancelled at once and never sent [cancel-queued]", async () => {
  await using relay = await Fixture.make();
  const key = await withoutListener(relay);
  await post(relay, key, command({ id: MESSAGE, targetDeviceId: LISTENER }));
  const phone = await relay.connect(key);
  assert.equal((await cancel(relay, key)).status, 202);
  assert.equal(await stateOf(relay, key), "withdrawn");
  assert.deepEqual(phone.received("push.updated").map(({ data }) => data.receipt.state), ["withdrawn"]);
  const listener = await relay.listener(LISTENER);
  assert.deepEqual(idsOf(listener), [CANCEL], "the host is still notified");
});

Deno.test("a refused cancellation cancels nothing [cancel-atomic]", async () => {
  await using relay = await Fixture.make();
  const key = await withoutListener(relay);
  await post(relay, key, command({ id: MESSAGE, targetDeviceId: LISTENER }));
  const missed = uuid(3);
  const cancels = [
    { id: CANCEL, targetDeviceId: "dev_listener_other", inReplyTo: MESSAGE },
    { id: CANCEL, targetDeviceId: "dev_listener_other", inReplyTo: missed },
    { id: missed, targetDeviceId: LISTENER, inReplyTo: missed },
  ];
  const refusals = [];
  for (const body of cancels) {
    const refused = await post(relay, key, { type: "agent.cancel", agentSessionName: "svc-p", ...body });
    refusals.push((await refused.json()).code);
  }
  assert.deepEqual(refusals, ["unknown_device", "unknown_device", "invalid_push"]);
  assert.equal(await stateOf(relay, key), "queued");
  assert.equal((await relay.request("GET", `/pushes/${missed}`, { key })).status, 404, "nothing is stored");
});

Deno.test("the listener decides on a message that was sent [cancel-atomic]", async () => {
  await using relay = await Fixture.make();
  const listener = await relay.listener(LISTENER);
  const key = await relay.key();
  await post(relay, key, command({ id: MESSAGE }));
  await cancel(relay, key);
  assert.equal(await stateOf(relay, key), "queued");
  assert.deepEqual(idsOf(listener), [MESSAGE, CANCEL]);
  await listener.send("push.ack", { id: MESSAGE, outcome: "withdrawn", final: true });
  assert.equal(await stateOf(relay, key), "withdrawn");
});

Deno.test("a script or another host cannot cancel a phone's message, another phone can [cancel-own]", async () => {
  await using relay = await Fixture.make();
  const sender = await withoutListener(relay);
  await post(relay, sender, command({ id: MESSAGE, targetDeviceId: LISTENER }));
  const scopes = ["push:send", "push:read"] as const;
  const others = [
    await relay.key(scopes, { role: "script" }),
    await relay.key(scopes, { role: "listener", deviceId: "dev_listener_bbbbbbbb" }),
    await relay.key(scopes),
  ];
  for (const key of others) {
    const refused = await cancel(relay, key);
    assert.deepEqual([refused.status, (await refused.json()).code], [403, "wrong_role"]);
  }
  assert.equal(await stateOf(relay, sender), "queued");
  const phone = await relay.key(scopes, { role: "phone", deviceId: "dev_phone_2" });
  assert.equal((await cancel(relay, phone)).status, 202);
  assert.equal(await stateOf(relay, sender), "withdrawn");
});

Deno.test("a message that may have been sent by an earlier run is cancelled by the listener before it gets the message [cancel-atomic]", async () => {
  await using relay = await Fixture.make();
  const key = await withoutListener(relay);
  await post(relay, key, command({ id: MESSAGE, targetDeviceId: LISTENER }));
  // By the clock it is not earlier, since the earlier run's clock may have been ahead.
  const sentUpTo = await relay.services.store.newestPush();
  Object.assign(relay.services, { claims: new PushClaims({ sentUpTo }) });
  await cancel(relay, key);
  assert.equal(await stateOf(relay, key), "queued");
  assert.deepEqual(idsOf(await relay.listener(LISTENER)), [CANCEL, MESSAGE]);
});

Deno.test("another host's acknowledgement does not let a message be cancelled that its own host has [cancel-atomic]", async () => {
  await using relay = await Fixture.make();
  const listener = await relay.listener(LISTENER);
  const other = await relay.listener("dev_listener_bbbbbbbb");
  const key = await relay.key();
  await post(relay, key, command({ id: MESSAGE, targetDeviceId: LISTENER }));
  await other.send("push.ack", { id: MESSAGE, outcome: "submitted", final: true });
  await cancel(relay, key);
  assert.equal(await stateOf(relay, key), "queued");
  await listener.send("push.ack", { id: MESSAGE, outcome: "submitted", final: true });
  assert.equal(await stateOf(relay, key), "submitted");
});

Deno.test("a message that arrives after its cancellation is refused [cancel-queued]", async () => {
  await using relay = await Fixture.make();
  const listener = await relay.listener(LISTENER);
  const key = await relay.key();
  await cancel(relay, key);
  assert.equal((await post(relay, key, command({ id: MESSAGE }))).status, 409);
  assert.deepEqual(idsOf(listener), [CANCEL]);
});

Deno.test("a cancellation changes nothing that is final, and no question [cancel-atomic]", async () => {
  await using relay = await Fixture.make();
  const listener = await relay.listener(LISTENER);
  const key = await relay.key();
  await post(relay, key, command({ id: MESSAGE }));
  await listener.send("push.ack", { id: MESSAGE, outcome: "submitted", final: true });
  await cancel(relay, key);
  assert.equal(await stateOf(relay, key), "submitted");
  assert.equal((await post(relay, key, { type: "agent.cancel" })).status, 400, "it must name a message");
});

Deno.test("a message that only its listener can cancel is never withheld from it [cancel-atomic]", async () => {
  await using relay = await Fixture.make();
  const key = await withoutListener(relay);
  await post(relay, key, command({ id: MESSAGE, targetDeviceId: LISTENER }));
  const claims = new PushClaims({ sentUpTo: await relay.services.store.newestPush() });
  Object.assign(relay.services, { claims });
  const withdrawn: string[] = [];
  const withdraw = claims.withdraw.bind(claims);
  claims.withdraw = (push) => {
    withdrawn.push(push.id);
    return withdraw(push);
  };
  assert.equal((await cancel(relay, key)).status, 202);
  assert.deepEqual(withdrawn, [], "an outbox that was filled at this moment would pass over it");
  assert.deepEqual(idsOf(await relay.listener(LISTENER)), [CANCEL, MESSAGE]);
});

Deno.test("when more is sent than can be remembered, earlier messages count as sent", () => {
  const claims = new PushClaims();
  const push = (n: number) => ({ account: "a", id: uuid(n), seq: n + 1 });
  for (let n = 0; n < CLAIMS_MAX; n++) claims.send(push(n));
  assert.equal(claims.knows(push(0)), true);
  claims.send(push(CLAIMS_MAX));
  assert.deepEqual([claims.knows(push(0)), claims.knows(push(CLAIMS_MAX))], [false, false]);
  assert.equal(claims.knows(push(CLAIMS_MAX + 1)), true);
});
