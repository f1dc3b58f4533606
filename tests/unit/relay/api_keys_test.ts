/** API keys: their form, the roles and devices they may have, and what revoking one revokes with it. */
import assert from "node:assert/strict";
import { CLOSE } from "../../../src/protocol/errors.ts";
import { PairingClaimed, PairingCreated } from "../../../src/protocol/http.ts";
import {
  DEVICES_PER_ACCOUNT_MAX,
  DEVICES_PER_KEY,
  OPEN_PAIRINGS_PER_KEY,
} from "../../../src/protocol/limits.ts";
import { createKey, findKey } from "../../../src/relay/api_keys.ts";
import { command, type FakeClient, Fixture, sessionNamed } from "./fixture.ts";

const LISTENER = "dev_listener_0a1b2c3d";
const AS_LISTENER = { role: "listener", deviceId: LISTENER } as const;

async function pair(relay: Fixture, key: string): Promise<PairingClaimed> {
  const created = await relay.request("POST", "/pairings", { key });
  assert.equal(created.status, 201, await created.clone().text());
  const { code } = PairingCreated.parse(await created.json());
  const answer = await relay.request("POST", `/pairings/${code}/claim`, { body: { name: "phone" } });
  return PairingClaimed.parse(await answer.json());
}

const closeOf = ({ socket }: FakeClient): string => `${socket.closedWith?.code} ${socket.closedWith?.reason}`;
const counted = (relay: Fixture, line: string): boolean => relay.services.metrics.render([]).includes(line);

Deno.test("a key is svc_ and 256 random bits, and no part of it is stored [sec-key-shape, sec-key-stored, rl-key-once]", async () => {
  await using relay = await Fixture.make();
  const { store } = relay.services;
  const created = await createKey(store, { name: "n", scopes: ["push:read"] });
  assert.match(created.key, /^svc_[A-Za-z0-9_-]{43}$/);
  const [record] = await store.listKeys();
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(created.key)));
  assert.deepEqual(record?.hash, digest);
  assert.ok(!JSON.stringify(record).includes(created.key.slice(4, 20)));
  assert.equal((await findKey(store, created.key))?.id, created.id);
  const other = created.key.slice(0, -2) + (created.key.endsWith("AA") ? "BB" : "AA");
  assert.equal(await findKey(store, other), undefined);
});

Deno.test("a key that sends hello as another key's listener gets device_taken and none of that listener's data [role-owner, role-speaks-for]", async () => {
  await using relay = await Fixture.make();
  const real = await relay.listener();
  await real.send("listener.sessions", { sequence: 1, sessions: [sessionNamed("svc-p")] });
  const thief = await relay.connect(await relay.key(["push:read"]), AS_LISTENER);
  assert.match(closeOf(thief), new RegExp(`^${CLOSE.DEVICE_TAKEN} device_taken: ${LISTENER} `));
  await thief.send("listener.sessions", { sequence: 2, sessions: [sessionNamed("svc-forged")] });
  const sent = await relay.request("POST", "/pushes/send", { key: await relay.key(), body: command() });
  const { id } = await sent.json();
  await thief.send("push.ack", { id, outcome: "submitted", final: true });
  assert.equal(real.socket.closedWith, undefined);
  assert.deepEqual([real.received("push.new").length, thief.received("push.new").length], [1, 0]);
  const push = await relay.services.store.findPush({ account: "default", id });
  assert.equal(push?.receipt.state, "queued");
  const [inventory] = await relay.services.store.listInventories("default");
  assert.deepEqual(inventory?.sessions.map(({ name }) => name), ["svc-p"]);
  assert.ok(counted(relay, "svc_device_taken_total 1"));
  assert.match(
    relay.logged.join("\n"),
    /refused dev_listener_0a1b2c3d: it belongs to another key; svc devices release dev_listener_0a1b2c3d/,
  );
});

Deno.test("an unused device id belongs to the first key with push:read and, once released, to the next one [role-owner, role-release]", async () => {
  await using relay = await Fixture.make();
  const [first, second] = [await relay.key(["push:read"]), await relay.key(["push:read"])];
  assert.equal((await relay.connect(first, AS_LISTENER)).socket.closedWith, undefined);
  const path = `/devices/${LISTENER}/owner`;
  assert.equal((await relay.request("DELETE", path, { key: second })).status, 403);
  const admin = await relay.key(["admin"]);
  assert.equal((await relay.request("DELETE", path, { key: admin })).status, 204);
  assert.equal((await relay.request("DELETE", path, { key: admin })).status, 404);
  assert.equal((await relay.connect(second, AS_LISTENER)).socket.closedWith, undefined);
  assert.match(closeOf(await relay.connect(first, AS_LISTENER)), /device_taken/);
});

Deno.test("only one of several keys that send hello at the same time with an unused id gets it [role-owner]", async () => {
  await using relay = await Fixture.make();
  const keys = await Promise.all(Array.from({ length: 8 }, () => relay.key(["push:read"])));
  const clients = await Promise.all(keys.map((key) => relay.connect(key, AS_LISTENER)));
  const codes = clients.map(({ socket }) => socket.closedWith?.code);
  assert.equal(codes.filter((code) => code === undefined).length, 1);
  assert.equal(codes.filter((code) => code === CLOSE.DEVICE_TAKEN).length, keys.length - 1);
  const [device] = await relay.services.store.listDevices("default");
  assert.equal(device?.online, true);
});

Deno.test("a key created for a listener owns its id before it connects, and can otherwise connect only as a script [role-listener-key]", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key(["push:read"], { role: "listener", deviceId: LISTENER });
  assert.match(closeOf(await relay.connect(await relay.key(["push:read"]), AS_LISTENER)), /device_taken/);
  assert.equal((await relay.connect(key, AS_LISTENER)).socket.closedWith, undefined);
  assert.equal((await relay.connect(key, { role: "listener" })).socket.closedWith, undefined);
  assert.match(
    closeOf(await relay.connect(key, { role: "listener", deviceId: "dev_listener_ffffffff" })),
    /^1008 the key belongs to another device/,
  );
  assert.match(closeOf(await relay.connect(key, { role: "phone" })), /^1008 wrong_role: the key/);
  const script = await relay.connect(key, { role: "script" });
  assert.match(script.received("welcome")[0]?.data.deviceId ?? "", /^dev_script_/);
});

Deno.test("a script's key connects only as a script, with its own device ids [role-script-key]", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key(["push:send", "push:read"], { role: "script" });
  const owner = await relay.key(["push:read"]);
  await relay.connect(owner, { role: "script", deviceId: "dev_script_asker" });
  const fault = async (hello: Parameters<Fixture["connect"]>[1]): Promise<string> =>
    closeOf(await relay.connect(key, hello));
  assert.match(
    await fault(AS_LISTENER),
    /^1008 wrong_role: the key is a script's, and cannot connect as a listener/,
  );
  assert.match(await fault({ role: "phone" }), /^1008 wrong_role: the key is a script's/);
  assert.match(await fault({ role: "script", deviceId: "dev_script_asker" }), /device_taken/);
  assert.equal((await relay.connect(key, { role: "script" })).socket.closedWith, undefined);
  assert.equal((await relay.request("POST", "/pairings", { key })).status, 403);
});

Deno.test("no key takes a host's or a phone's id in another role, so that the host finds it free [role-script-key, role-owner]", async () => {
  await using relay = await Fixture.make();
  const scopes = ["push:send", "push:read"] as const;
  for (const role of ["script", undefined] as const) {
    const key = await relay.key(scopes, { role });
    const taken = closeOf(await relay.connect(key, { role: "script", deviceId: LISTENER }));
    assert.match(taken, /^1008 wrong_role: the device id is a listener's, and cannot connect as a script/);
    const phone = closeOf(await relay.connect(key, { role: "script", deviceId: "dev_phone_1" }));
    assert.match(phone, /^1008 wrong_role: the device id is a phone's/);
  }
  assert.equal(await relay.services.store.findDevice({ account: "default", id: LISTENER }), undefined);
  const host = await relay.connect(await relay.key(["push:read"]), AS_LISTENER);
  assert.equal(host.socket.closedWith, undefined);
});

Deno.test("a host's id that was stored as a script's connects as the host's, once it is released or has its host's key [role-release]", async () => {
  await using relay = await Fixture.make();
  const { store, clock } = relay.services;
  const kindOf = async (): Promise<string | undefined> =>
    (await store.findDevice({ account: "default", id: LISTENER }))?.kind;
  const script = { account: "default", id: LISTENER, kind: "script", name: "", version: "" } as const;
  const times = { createdAt: clock.now(), lastSeen: clock.now() };
  const most = { ofKey: DEVICES_PER_KEY, ofAccount: DEVICES_PER_ACCOUNT_MAX };
  await relay.key(["push:read"], { role: "script" });
  const [thief] = await store.listKeys();
  const take = () =>
    store.claimDevice({ ...script, ...times, online: false }, { keyId: thief?.id ?? "", most });
  assert.equal(await take(), "claimed");
  const admin = await relay.key(["admin"]);
  assert.equal((await relay.request("DELETE", `/devices/${LISTENER}/owner`, { key: admin })).status, 204);
  const host = await relay.connect(await relay.key(["push:read"]), AS_LISTENER);
  assert.deepEqual([host.socket.closedWith, await kindOf()], [undefined, "listener"]);
  await store.releaseDevice({ account: "default", id: LISTENER });
  assert.equal(await take(), "claimed");
  const own = await relay.key(["push:read"], { role: "listener", deviceId: LISTENER });
  assert.equal((await relay.connect(own, AS_LISTENER)).socket.closedWith, undefined);
  assert.equal(await kindOf(), "listener");
});

Deno.test("an id without a role in its name keeps its owner's role until it is released [role-release]", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key(["push:read"]);
  const as = async (role: "phone" | "script"): Promise<string> =>
    closeOf(await relay.connect(key, { role, deviceId: "dev_tablet" }));
  assert.match(await as("script"), /^undefined/);
  assert.match(await as("phone"), /^1008 wrong_role: the device is a script/);
  await relay.services.store.releaseDevice({ account: "default", id: "dev_tablet" });
  assert.match(await as("phone"), /^undefined/);
});

Deno.test("a phone's key cannot create pairing codes, and revoking the phone revokes its keys and closes their sockets [role-phone-key, role-cascade]", async () => {
  await using relay = await Fixture.make();
  const host = await relay.key(["push:send", "push:read"], { role: "listener", deviceId: LISTENER });
  const [phone, other] = [await pair(relay, host), await pair(relay, host)];
  const refused = await relay.request("POST", "/pairings", { key: phone.apiKey });
  assert.deepEqual([refused.status, (await refused.json()).code], [403, "wrong_role"]);
  // A key created by a phone's key, from before keys had roles.
  const { store } = relay.services;
  const parent = (await store.listKeys()).find(({ deviceId }) => deviceId === phone.deviceId);
  const clone = await relay.key(["push:read"], {
    role: "phone",
    deviceId: "dev_phone_clone",
    parent: parent?.id,
  });
  const sockets = [
    await relay.connect(phone.apiKey),
    await relay.connect(clone),
    await relay.connect(other.apiKey),
  ];
  const admin = await relay.key(["admin"]);
  assert.equal((await relay.request("DELETE", `/devices/${phone.deviceId}`, { key: admin })).status, 204);
  assert.deepEqual(sockets.map(({ socket }) => socket.closedWith?.code), [4401, 4401, undefined]);
  for (const [key, status] of [[phone.apiKey, 401], [clone, 401], [other.apiKey, 200]] as const) {
    assert.equal((await relay.request("GET", "/sessions", { key })).status, status);
  }
});

Deno.test("revoking a key revokes the phones that it paired and frees its device ids [role-cascade, role-owner]", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key();
  const phone = await pair(relay, key);
  await relay.connect(key, AS_LISTENER);
  const { store, clock } = relay.services;
  const made = (await store.listKeys()).find(({ role }) => role === undefined);
  assert.equal((await store.revokeKey(made?.id ?? "", clock.now())).length, 2);
  assert.equal((await relay.request("GET", "/sessions", { key: phone.apiKey })).status, 401);
  assert.equal((await relay.connect(await relay.key(), AS_LISTENER)).socket.closedWith, undefined);
});

Deno.test("a second home with the same key is refused while the first is connected; a home that was set up again is accepted and counted [role-identity]", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key(["push:read"]);
  const first = await relay.connect(key, { ...AS_LISTENER, publicKey: "first" });
  const second = await relay.connect(key, { ...AS_LISTENER, publicKey: "second" });
  assert.deepEqual([first.socket.closedWith, second.socket.closedWith?.code], [
    undefined,
    CLOSE.DEVICE_TAKEN,
  ]);
  const again = await relay.connect(key, { ...AS_LISTENER, publicKey: "first" });
  assert.deepEqual([first.socket.closedWith?.code, again.socket.closedWith], [CLOSE.REPLACED, undefined]);
  again.leave();
  await relay.settle();
  const anew = await relay.connect(key, { ...AS_LISTENER, publicKey: "second" });
  assert.equal(anew.socket.closedWith, undefined);
  assert.ok(counted(relay, "svc_identity_changed_total 1"));
});

Deno.test("a question may name only a device of its sender as the one that waits [role-speaks-for]", async () => {
  await using relay = await Fixture.make();
  const owner = await relay.key();
  await relay.connect(owner, { role: "script", deviceId: "dev_script_asker" });
  const body = {
    type: "ask",
    body: "?",
    data: { kind: "ask", timeoutSeconds: 300, replyTo: "dev_script_asker" },
  };
  const answer = await relay.request("POST", "/pushes/send", { key: await relay.key(), body });
  assert.equal(answer.status, 400);
  assert.equal((await answer.json()).errors[0].pointer, "/data/replyTo");
  assert.equal((await relay.request("POST", "/pushes/send", { key: owner, body })).status, 202);
});

Deno.test("the devices and unclaimed codes of one key are limited [flood-devices, flood-pairings]", async () => {
  await using relay = await Fixture.make();
  const { store } = relay.services;
  const key = await relay.key();
  const [made] = await store.listKeys();
  for (let n = 0; n < OPEN_PAIRINGS_PER_KEY; n++) {
    assert.equal((await relay.request("POST", "/pairings", { key })).status, 201);
  }
  const full = await relay.request("POST", "/pairings", { key });
  assert.deepEqual([full.status, (await full.json()).code], [429, "over_budget"]);
  assert.equal(full.headers.get("retry-after"), "600");
  relay.clock.advance(600_000);
  assert.equal((await relay.request("POST", "/pairings", { key })).status, 201);
  const device = { account: "default", kind: "script", name: "", version: "", online: false } as const;
  const times = { createdAt: 1, lastSeen: 1 };
  const claim = {
    keyId: made?.id ?? "",
    most: { ofKey: DEVICES_PER_KEY, ofAccount: DEVICES_PER_ACCOUNT_MAX },
  };
  await Promise.all(
    Array.from(
      { length: DEVICES_PER_KEY },
      (_, n) => store.claimDevice({ ...device, ...times, id: `dev_script_${n}` }, claim),
    ),
  );
  const more = await relay.connect(key, { role: "script", deviceId: "dev_script_more" });
  assert.match(closeOf(more), /^1008 the key has 200 devices/);
  assert.equal(
    (await relay.connect(key, { role: "script", deviceId: "dev_script_7" })).socket.closedWith,
    undefined,
  );
  relay.clock.advance(600_000);
  assert.equal((await relay.request("POST", "/pairings", { key })).status, 429);
  const other = await relay.connect(await relay.key(), { role: "script", deviceId: "dev_script_more" });
  assert.equal(other.socket.closedWith, undefined);
  assert.ok(counted(relay, 'svc_over_budget_total{budget="open_pairings"} 1'));
});
