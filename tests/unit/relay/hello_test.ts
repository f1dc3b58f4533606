/** Hello during a revocation, and many hellos at once: the store's decision counts. */
import assert from "node:assert/strict";
import { CLOSE } from "../../../src/protocol/errors.ts";
import { DEVICES_PER_KEY } from "../../../src/protocol/limits.ts";
import { type FakeClient, Fixture, helloOf } from "./fixture.ts";

const SCRIPT = { role: "script", deviceId: "dev_script_1" } as const;

/** Sends hello and does not wait for its answer. */
function begin(client: FakeClient, deviceId: string = SCRIPT.deviceId): void {
  const hello = helloOf({ ...SCRIPT, deviceId });
  client.socket.handlers?.text(JSON.stringify({ event: "hello", data: hello }));
}

async function keyIdOf(relay: Fixture): Promise<string> {
  return (await relay.services.store.listKeys()).at(-1)?.id ?? "";
}

Deno.test("a device that is revoked while its hello is being answered is not welcomed [http-revoke]", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key();
  (await relay.connect(key, SCRIPT)).leave();
  const admin = await relay.key(["admin"]);
  const { store } = relay.services;
  const claimDevice = store.claimDevice;
  let revoked: Promise<Response> | undefined;
  // The claim and the revocation are committed together, in this order.
  store.claimDevice = (...args) => {
    const claimed = claimDevice(...args);
    revoked = relay.request("DELETE", `/devices/${SCRIPT.deviceId}`, { key: admin });
    return claimed;
  };
  const client = await relay.open(key);
  begin(client);
  await relay.settle();
  assert.equal((await revoked)?.status, 204);
  assert.equal(client.socket.closedWith?.code, CLOSE.REVOKED);
  assert.equal(client.received("welcome").length, 0);
});

Deno.test("a client that disconnects before its hello was checked leaves no device that counts as online", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key();
  const { store } = relay.services;
  const findKeyById = store.findKeyById;
  const gone = Promise.withResolvers<void>();
  store.findKeyById = async (id) => {
    await gone.promise;
    return await findKeyById(id);
  };
  const client = await relay.open(key);
  begin(client);
  client.leave();
  gone.resolve();
  await relay.settle();
  const device = await store.findDevice({ account: "default", id: SCRIPT.deviceId });
  assert.notEqual(device?.online, true);
});

for (const step of [1, 2]) {
  Deno.test(`a client that disconnects while its device is looked up, step ${step}, leaves no device that counts as online`, async () => {
    await using relay = await Fixture.make();
    const key = await relay.key();
    const { store } = relay.services;
    const findDevice = store.findDevice;
    let looks = 0;
    store.findDevice = async (device) => {
      const found = await findDevice(device);
      if (++looks !== step) return found;
      client.leave();
      // The end of the connection is stored before the lookup has its answer.
      for (let turn = 0; turn < 100; turn++) await Promise.resolve();
      return found;
    };
    const client = await relay.open(key);
    begin(client);
    await relay.settle();
    if (looks < step) return assert.equal(client.received("welcome").length, 1, "it is looked up less often");
    const device = await findDevice({ account: "default", id: SCRIPT.deviceId });
    assert.notEqual(device?.online, true);
  });
}

for (const what of ["key", "device"] as const) {
  Deno.test(`a ${what} that another process revokes while its hello is being answered claims nothing [http-revoke]`, async () => {
    await using relay = await Fixture.make();
    const key = await relay.key();
    const keyId = await keyIdOf(relay);
    (await relay.connect(key, SCRIPT)).leave();
    await relay.settle();
    const { store, clock } = relay.services;
    const device = { account: "default", id: SCRIPT.deviceId };
    const claimDevice = store.claimDevice;
    store.claimDevice = async (...args) => {
      if (what === "key") await store.revokeKey(keyId, clock.now());
      else await store.revokeDevice(device, clock.now());
      return await claimDevice(...args);
    };
    const client = await relay.open(key);
    begin(client);
    await relay.settle();
    assert.equal(client.socket.closedWith?.code, CLOSE.REVOKED);
    assert.equal(client.received("welcome").length, 0);
    assert.equal((await store.findDevice(device))?.online, false);
  });
}

Deno.test("hellos that arrive together claim no more devices than a key may have [flood-devices]", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key();
  const keyId = await keyIdOf(relay);
  const clients: FakeClient[] = [];
  for (let n = 0; n < DEVICES_PER_KEY + 20; n++) {
    relay.clock.advance(100);
    clients.push(await relay.open(key));
  }
  for (const [n, client] of clients.entries()) begin(client, `dev_script_${n}`);
  await relay.settle();
  const welcomed = clients.filter((client) => client.received("welcome").length > 0);
  assert.equal(welcomed.length, DEVICES_PER_KEY);
  assert.equal((await relay.services.store.keyUse(keyId, 0)).devices, DEVICES_PER_KEY);
  assert.match(clients.at(-1)?.socket.closedWith?.reason ?? "", /^the key has 200 devices/);
});
