/** Claims of pairing codes by strangers, and during the revocation of the key that created the code. */
import assert from "node:assert/strict";
import { sha256Hex } from "../../../src/async/encodings.ts";
import { PairingClaimed, PairingCreated } from "../../../src/protocol/http.ts";
import { StoreUnavailable } from "../../../src/store/store.ts";
import { Fixture } from "./fixture.ts";

async function codeOf(relay: Fixture, key: string): Promise<string> {
  return PairingCreated.parse(await (await relay.request("POST", "/pairings", { key })).json()).code;
}

function claim(relay: Fixture, code: string, address = "198.51.100.1"): Promise<Response> {
  return relay.request("POST", `/pairings/${code}/claim`, { body: { name: "phone" }, address });
}

Deno.test("creating a code needs no body, and an offer in a body is never dropped [http-pairings]", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key();
  const create = async (headers: Record<string, string>, body?: string): Promise<number> => {
    const init = { method: "POST", headers: { "x-api-key": key, ...headers }, ...(body ? { body } : {}) };
    return (await relay.app(new Request("http://relay/pairings", init), "192.0.2.1")).status;
  };
  assert.equal(await create({}), 201);
  assert.equal(await create({ "content-type": "application/json" }), 201);
  const bytes = new TextEncoder().encode(JSON.stringify({ offer: {} }));
  const request = new Request("http://relay/pairings", {
    method: "POST",
    headers: { "x-api-key": key },
    body: bytes,
  });
  assert.equal((await relay.app(request, "192.0.2.1")).status, 415);
});

Deno.test("a claim that races with the revocation of the code's key gets no key [role-cascade]", async () => {
  await using relay = await Fixture.make();
  const host = await relay.key();
  const [made] = await relay.services.store.listKeys();
  const code = await codeOf(relay, host);
  const { store, clock } = relay.services;
  const insertKey = store.insertKey;
  // The last moment: the code was found to be valid.
  store.insertKey = async (key) => {
    await store.revokeKey(made?.id ?? "", clock.now());
    return await insertKey(key);
  };
  assert.equal((await claim(relay, code)).status, 404);
  assert.deepEqual((await store.listKeys()).filter(({ revokedAt }) => revokedAt === undefined), []);
  assert.deepEqual(await store.listDevices("default"), []);
});

Deno.test("a code is looked up and claimed by its digest, which alone cannot claim it, because paths end up in the logs of proxies [sec-claim]", async () => {
  await using relay = await Fixture.make();
  const host = await relay.key();
  const code = await codeOf(relay, host);
  const named = `sha256-${await sha256Hex(code)}`;
  const status = (name: string): Promise<Response> =>
    relay.request("GET", `/pairings/${name}`, { key: host });
  assert.equal((await status(named)).status, 200);
  assert.equal((await status(`sha256-${await sha256Hex("another")}`)).status, 404);
  assert.equal((await claim(relay, named)).status, 404);
  const claimBy = (body: Record<string, string>): Promise<Response> =>
    relay.request("POST", `/pairings/${named}/claim`, { body: { name: "phone", ...body } });
  for (const wrong of ["another", named]) assert.equal((await claimBy({ code: wrong })).status, 404);
  assert.equal((await claimBy({ code })).status, 201);
  const { phone } = await (await status(named)).json();
  assert.deepEqual([phone.name, "code" in phone], ["phone", false]);
  assert.equal((await (await status(code)).json()).phone.name, "phone", "as older hosts ask");
});

Deno.test("a host's key cannot offer phones another host's device id, so that nothing sealed for that one can be opened with its key [role-speaks-for]", async () => {
  await using relay = await Fixture.make();
  const deviceId = "dev_listener_victim";
  const offer = { deviceId, host: "victim", publicKey: "B".repeat(87), proof: "p".repeat(43) };
  const make = (key: string): Promise<Response> =>
    relay.request("POST", "/pairings", { key, body: { offer } });
  const victim = await relay.key(["push:send", "push:read"], { role: "listener", deviceId });
  const other = await relay.key(["push:read"], { role: "listener", deviceId: "dev_listener_other" });
  const refused = await make(other);
  assert.deepEqual([refused.status, (await refused.json()).code], [403, "wrong_role"]);
  assert.equal((await make(victim)).status, 201);
  assert.equal((await make(await relay.key())).status, 201, "a key that was made for no device");
});

Deno.test("the host learns at once that nobody claimed a code in time", async () => {
  await using relay = await Fixture.make();
  const host = await relay.key();
  const code = await codeOf(relay, host);
  const status = async (): Promise<number> =>
    (await relay.request("GET", `/pairings/${code}`, { key: host })).status;
  relay.clock.advance(10 * 60_000 + 4_999);
  assert.equal(await status(), 200, "a claim may have begun in time");
  relay.clock.advance(1);
  assert.equal(await status(), 404);
});

const SENT = { name: "phone", publicKey: "B".repeat(87), proof: "p".repeat(43) };

function claimWith(
  relay: Fixture,
  code: string,
  { key, ...changed }: Partial<typeof SENT> & { key?: string } = {},
): Promise<Response> {
  return relay.request("POST", `/pairings/${code}/claim`, { body: { ...SENT, ...changed }, key });
}

Deno.test("a claim whose answer was lost is answered again, but only to the same key with the same proof [claim-again]", async () => {
  await using relay = await Fixture.make();
  const { store } = relay.services;
  const host = await relay.key();
  const code = await codeOf(relay, host);
  const [first, second] = await Promise.all([claimWith(relay, code), claimWith(relay, code)]);
  const answer = await first.json();
  assert.deepEqual([first.status, second.status, await second.json()], [201, 201, answer]);
  assert.equal((await store.listDevices("default")).length, 1);
  for (const changed of [{ proof: "q".repeat(43) }, { publicKey: "C".repeat(87) }]) {
    assert.equal((await claimWith(relay, code, changed)).status, 404);
  }
  relay.clock.advance(10 * 60_000 - 1);
  assert.deepEqual(await (await claimWith(relay, code)).json(), answer);
  relay.clock.advance(1);
  assert.equal((await claimWith(relay, code)).status, 404, "the code has expired");
});

Deno.test("a claim is not answered again without a proof, after a revocation, or with the key that a caller does not have [claim-again]", async () => {
  await using relay = await Fixture.make();
  const { store, clock } = relay.services;
  const host = await relay.key();
  const plain = await codeOf(relay, host);
  assert.deepEqual([(await claim(relay, plain)).status, (await claim(relay, plain)).status], [201, 404]);

  const code = await codeOf(relay, host);
  const { apiKey, deviceId } = PairingClaimed.parse(await (await claimWith(relay, code)).json());
  const another = await codeOf(relay, host);
  const own = await (await claimWith(relay, another, { key: apiKey })).json();
  assert.deepEqual([own.apiKey, own.deviceId], [apiKey, deviceId]);
  assert.equal((await claimWith(relay, another)).status, 404, "the host knows the proof, and not the key");
  assert.equal((await claimWith(relay, another, { key: apiKey })).status, 201);

  await store.revokeDevice({ account: "default", id: deviceId }, clock.now());
  assert.equal((await claimWith(relay, code)).status, 404);
});

Deno.test("a code survives a store failure during its claim, for the phone that claimed it, and makes one device [claim-again]", async (t) => {
  for (const step of ["findKeyById", "insertKey", "saveDevice", "completePairing"] as const) {
    await t.step(step, async () => {
      await using relay = await Fixture.make();
      const { store } = relay.services;
      const host = await relay.key();
      for (const proven of [true, false]) {
        const code = await codeOf(relay, host);
        const before = (await store.listDevices("default")).length;
        const claimed = (): Promise<Response> => proven ? claimWith(relay, code) : claim(relay, code);
        const works = store[step];
        const fails = (): Promise<never> => Promise.reject(new StoreUnavailable("the disk is full"));
        Object.assign(store, { [step]: fails });
        assert.deepEqual([(await claimed()).status, (await claimed()).status], [503, 503]);
        Object.assign(store, { [step]: works });
        assert.equal((await claimWith(relay, code, { proof: "q".repeat(43) })).status, 404);
        const answers = await Promise.all([claimed(), claimed()]);
        assert.deepEqual(answers.map(({ status }) => status).sort(), proven ? [201, 201] : [201, 404]);
        const answered = answers.find(({ status }) => status === 201) ?? assert.fail("no answer");
        const { deviceId } = PairingClaimed.parse(await answered.json());
        const found = await relay.request("GET", `/pairings/${code}`, { key: host });
        assert.equal((await found.json()).phone.deviceId, deviceId);
        assert.equal((await store.listDevices("default")).length, before + 1);
      }
    });
  }
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
