/** Claims of pairing codes by strangers, and beside the revocation of the key that created the code. */
import assert from "node:assert/strict";
import { PairingCreated } from "../../../src/protocol/http.ts";
import { Fixture } from "./fixture.ts";

async function codeOf(relay: Fixture, key: string): Promise<string> {
  return PairingCreated.parse(await (await relay.request("POST", "/pairings", { key })).json()).code;
}

function claim(relay: Fixture, code: string, address = "198.51.100.1"): Promise<Response> {
  return relay.request("POST", `/pairings/${code}/claim`, { body: { name: "phone" }, address });
}

Deno.test("a claim that races with the revocation of the code's key gets no key [role-cascade]", async () => {
  await using relay = await Fixture.make();
  const host = await relay.key();
  const [made] = await relay.services.store.listKeys();
  const code = await codeOf(relay, host);
  const { store, clock } = relay.services;
  const insertKey = store.insertKey;
  // The last moment: the code was found to be good.
  store.insertKey = async (key) => {
    await store.revokeKey(made?.id ?? "", clock.now());
    return await insertKey(key);
  };
  assert.equal((await claim(relay, code)).status, 404);
  assert.deepEqual((await store.listKeys()).filter(({ revokedAt }) => revokedAt === undefined), []);
  assert.deepEqual(await store.listDevices("default"), []);
});

Deno.test("wrong codes are counted per network, not per IPv6 address, and write nothing [sec-claim, flood-open]", async () => {
  await using relay = await Fixture.make();
  const { store } = relay.services;
  store.takePairing = () => assert.fail("a wrong code took the write lock");
  const statuses: number[] = [];
  for (let n = 0; n < 5; n++) statuses.push((await claim(relay, `guess${n}`, `2001:db8::${n + 1}`)).status);
  assert.deepEqual(statuses, [404, 404, 404, 429, 429]);
  assert.equal((await claim(relay, "guess", "2001:db8:0:1::1")).status, 404);
  const junk = { body: "[".repeat(60_000), address: "203.0.113.1" };
  assert.equal(
    (await relay.request("POST", "/pairings/guess/claim", junk)).status,
    404,
    "the body was parsed",
  );
});
