/** Keys: their form, what is kept of them, and how they are found. */
import assert from "node:assert/strict";
import { createKey, findKey } from "../../../src/relay/keys.ts";
import { Fixture } from "./fixture.ts";

Deno.test("a key is svc_ and 256 random bits, and no part of it is kept [sec-key-shape, sec-key-stored, rl-key-once]", async () => {
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
