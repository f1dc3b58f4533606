/** Devices, sessions, pairings and subscriptions over HTTP. */
import assert from "node:assert/strict";
import { DevicesAnswer, PairingClaimed, PairingCreated } from "../../../src/protocol/http.ts";
import { SessionsAnswer } from "../../../src/protocol/session.ts";
import { SUBSCRIPTION } from "../../helpers/push_vendor.ts";
import { Fixture, sessionNamed } from "./fixture.ts";

const LISTENER = "dev_listener_0a1b2c3d";

async function code(relay: Fixture, key: string): Promise<string> {
  return PairingCreated.parse(await (await relay.request("POST", "/pairings", { key })).json()).code;
}

const claim = (relay: Fixture, pairing: string, address = "198.51.100.1"): Promise<Response> =>
  relay.request("POST", `/pairings/${pairing}/claim`, { body: { name: "my phone" }, address });

Deno.test("devices are listed with their online state [http-devices]", async () => {
  await using relay = await Fixture.make();
  const listener = await relay.listener();
  const key = await relay.key();
  const list = async (): Promise<[string, boolean][]> => {
    const answer = DevicesAnswer.parse(await (await relay.request("GET", "/devices", { key })).json());
    return answer.devices.map(({ id, online }) => [id, online]);
  };
  assert.deepEqual(await list(), [[LISTENER, true]]);
  listener.leave();
  await relay.settle();
  assert.deepEqual(await list(), [[LISTENER, false]]);
});

Deno.test("the picker reads the reported sessions, with unknown fields, even while the listener is offline [http-sessions, flow-4, entry-unknown]", async () => {
  await using relay = await Fixture.make();
  const listener = await relay.listener();
  const sessions = [{ ...sessionNamed("svc-p"), invented: true }];
  await listener.send("listener.sessions", { sequence: 1, sessions });
  listener.leave();
  await relay.settle();
  const answer = await (await relay.request("GET", "/sessions", { key: await relay.key() })).json();
  assert.deepEqual(SessionsAnswer.parse(answer).devices.map(({ deviceId, online }) => [deviceId, online]), [[
    LISTENER,
    false,
  ]]);
  assert.deepEqual(answer.devices[0].sessions, sessions);
});

Deno.test("revoking a device stops its keys and closes its sockets at once, and it cannot send hello again [http-revoke, sec-leaked-key]", async () => {
  await using relay = await Fixture.make();
  const bound = await relay.key(["push:read"], { deviceId: LISTENER });
  const listener = await relay.connect(bound, { role: "listener", deviceId: LISTENER });
  const admin = await relay.key(["admin", "push:read"]);
  assert.equal((await relay.request("DELETE", `/devices/${LISTENER}`, { key: admin })).status, 204);
  assert.equal(listener.socket.closedWith?.code, 4401);
  assert.equal((await relay.request("GET", "/sessions", { key: bound })).status, 401);
  assert.deepEqual(await (await relay.request("GET", "/sessions", { key: admin })).json(), { devices: [] });
  const other = await relay.listener(LISTENER);
  assert.equal(other.socket.closedWith?.code, 4401);
  assert.equal((await relay.request("DELETE", `/devices/${LISTENER}`, { key: admin })).status, 404);
});

Deno.test("the key with which a lost phone signed in stops working with it; one that other devices use too is reported [http-revoke, sec-leaked-key]", async () => {
  await using relay = await Fixture.make();
  const admin = await relay.key(["admin"]);
  const shared = await relay.key(["push:read"]);
  const [phone, laptop] = ["dev_phone_00000001", "dev_phone_00000002"];
  const sockets = [
    await relay.connect(shared, { role: "phone", deviceId: phone }),
    await relay.connect(shared, { role: "phone", deviceId: laptop }),
  ];
  const revoke = (id: string) => relay.request("DELETE", `/devices/${id}`, { key: admin });
  const { workingKey } = await (await revoke(phone)).json();
  assert.equal(workingKey.id, await relay.services.store.deviceOwner({ account: "default", id: laptop }));
  assert.deepEqual(sockets.map(({ socket }) => socket.closedWith?.code), [4401, undefined]);
  assert.equal((await relay.request("GET", "/sessions", { key: shared })).status, 200);
  assert.equal((await revoke(laptop)).status, 204);
  assert.equal(sockets[1]?.socket.closedWith?.code, 4401);
  assert.equal((await relay.request("GET", "/sessions", { key: shared })).status, 401);
});

Deno.test("a claimed code gives a phone its own key and device, once [http-claim, http-pairings, sec-claim]", async () => {
  await using relay = await Fixture.make();
  const owner = await relay.key(["push:send", "push:read", "admin"]);
  const pairing = await code(relay, owner);
  assert.ok(pairing.length >= 22);
  const answer = await claim(relay, pairing);
  const { deviceId, apiKey } = PairingClaimed.parse(await answer.json());
  assert.equal(answer.status, 201);
  assert.equal((await claim(relay, pairing)).status, 404);
  assert.equal((await relay.request("GET", "/sessions", { key: apiKey })).status, 200);
  assert.equal((await relay.request("DELETE", `/devices/${deviceId}`, { key: apiKey })).status, 403);
  const phone = await relay.connect(apiKey);
  assert.equal(phone.received("welcome")[0]?.data.deviceId, deviceId);
  const impostor = await relay.connect(apiKey, { role: "listener", deviceId: LISTENER });
  assert.equal(impostor.socket.closedWith?.code, 1008);
});

Deno.test("a host's offer reaches the phone that claims, and only the host's account can read the claim [http-pairings, http-claim]", async () => {
  await using relay = await Fixture.make();
  const owner = await relay.key();
  const offer = { deviceId: LISTENER, host: "workstation", publicKey: "L", proof: "shown" };
  const created = await relay.request("POST", "/pairings", { key: owner, body: { offer } });
  const { code: pairing, expiresAt } = PairingCreated.parse(await created.json());
  const status = (key: string): Promise<Response> => relay.request("GET", `/pairings/${pairing}`, { key });
  assert.deepEqual(await (await status(owner)).json(), { expiresAt });
  assert.equal((await status(await relay.key(undefined, { account: "other" }))).status, 404);

  const body = { name: "iPhone", publicKey: "P", proof: "mine" };
  const answer = await relay.request("POST", `/pairings/${pairing}/claim`, { body });
  const claimed = PairingClaimed.parse(await answer.json());
  assert.deepEqual(claimed.offer, offer);
  const phone = { deviceId: claimed.deviceId, ...body };
  assert.deepEqual(await (await status(owner)).json(), { expiresAt, phone });
});

Deno.test("a phone that pairs with another host keeps its device id and its key [http-claim]", async () => {
  await using relay = await Fixture.make();
  const owner = await relay.key();
  const first = PairingClaimed.parse(await (await claim(relay, await code(relay, owner))).json());
  const again = async (key: string): Promise<PairingClaimed> => {
    relay.clock.advance(60_000);
    const path = `/pairings/${await code(relay, owner)}/claim`;
    const answer = await relay.request("POST", path, { key, body: { name: "my phone" } });
    return PairingClaimed.parse(await answer.json());
  };
  assert.deepEqual(await again(first.apiKey), first);
  const stranger = await relay.key(["push:read"], { account: "other", deviceId: first.deviceId });
  for (const key of [owner, stranger, "svc_unknown"]) {
    assert.notEqual((await again(key)).deviceId, first.deviceId);
  }
});

Deno.test("a code expires after 10 minutes, or with the key that created it [sec-claim]", async () => {
  await using relay = await Fixture.make();
  const owner = await relay.key();
  const late = await code(relay, owner);
  relay.clock.advance(600_000);
  assert.equal((await claim(relay, late)).status, 404);
  const orphan = await code(relay, owner);
  const [record] = await relay.services.store.listKeys();
  await relay.services.store.revokeKey(record?.id ?? "", relay.clock.now());
  assert.equal((await claim(relay, orphan)).status, 404);
});

Deno.test("a phone gets no scope that the creating key lacks", async () => {
  await using relay = await Fixture.make();
  const reader = await relay.key(["push:read"]);
  const { apiKey } = PairingClaimed.parse(await (await claim(relay, await code(relay, reader))).json());
  const sent = await relay.request("POST", "/pushes/send", { key: apiKey, body: { type: "note" } });
  assert.equal(sent.status, 403);
});

Deno.test("guesses of codes are limited per address, and a right code from there is still accepted [sec-claim]", async () => {
  await using relay = await Fixture.make();
  const statuses: number[] = [];
  for (let n = 0; n < 4; n++) statuses.push((await claim(relay, `guess${n}`)).status);
  assert.deepEqual(statuses, [404, 404, 404, 429]);
  assert.equal((await claim(relay, "guess", "198.51.100.2")).status, 404);
  assert.equal((await claim(relay, await code(relay, await relay.key()))).status, 201);
});

Deno.test("a phone can change only its own subscription [http-web-push]", async () => {
  await using relay = await Fixture.make();
  const owner = await relay.key();
  const { deviceId, apiKey } = PairingClaimed.parse(
    await (await claim(relay, await code(relay, owner))).json(),
  );
  const host = await relay.key();
  await relay.connect(host, { role: "listener", deviceId: LISTENER });
  const body = SUBSCRIPTION;
  const path = `/devices/${deviceId}/web-push`;
  assert.equal((await relay.request("PUT", path, { key: apiKey, body })).status, 204);
  const device = { account: "default", id: deviceId };
  assert.deepEqual(await relay.services.store.findWebPush(device), body);
  assert.equal(
    (await relay.request("PUT", `/devices/${LISTENER}/web-push`, { key: apiKey, body })).status,
    404,
  );
  const ofHost = await relay.request("PUT", `/devices/${LISTENER}/web-push`, { key: host, body });
  assert.equal(ofHost.status, 404, "it is no phone");
  const bad = await relay.request("PUT", path, { key: apiKey, body: { ...body, endpoint: "http://x" } });
  assert.equal((await bad.json()).code, "invalid_request");
  assert.equal((await relay.request("DELETE", path, { key: apiKey })).status, 204);
  assert.equal(await relay.services.store.findWebPush(device), undefined);
});
