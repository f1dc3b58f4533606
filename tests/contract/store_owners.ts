/** The store's contract for keys, the devices that they own, and the keys created from them. */
import assert from "node:assert/strict";
import { aClaim, aDevice, aKey, type Body, bytes, NOW } from "./store_samples.ts";

export const OWNERS: Record<string, Body> = {
  "revoking a key revokes the keys created from it, unless `only` is set [role-cascade]": async (
    store,
  ) => {
    await store.insertKey(aKey(5, { parent: "key_1", role: "phone" }));
    await store.saveDevice(aDevice("dev_p", { kind: "phone" }));
    await store.insertKey(aKey(6, { parent: "key_5", role: "phone", deviceId: "dev_p" }));
    await store.insertKey(aKey(7, { parent: "key_2" }));
    assert.deepEqual(await store.revokeKey("key_2", NOW, { only: true }), ["key_2"]);
    assert.deepEqual(await store.revokeKey("key_1", NOW), ["key_1", "key_5", "key_6"]);
    assert.equal((await store.findDevice({ account: "a", id: "dev_p" }))?.revokedAt, NOW);
    const works = (await store.listKeys()).filter(({ revokedAt }) => revokedAt === undefined);
    assert.deepEqual(works.map(({ id, parent }) => [id, parent]), [["key_7", "key_2"]]);
  },
  "a device belongs to the first key that claims it, until it is released or that key is revoked [role-owner]":
    async (store) => {
      await store.insertKey(aKey(5));
      const name = { account: "a", id: "dev_l" };
      const claim = (keyId: string) => store.claimDevice(aDevice("dev_l", { name: keyId }), aClaim(keyId));
      assert.equal(await store.deviceOwner(name), undefined);
      assert.deepEqual(await Promise.all([claim("key_1"), claim("key_5")]), ["claimed", "taken"]);
      assert.equal((await store.findDevice(name))?.name, "key_1");
      assert.equal(await store.deviceOwner(name), "key_1");
      assert.equal(await store.releaseDevice({ account: "b", id: "dev_l" }), false);
      assert.equal(await store.releaseDevice(name), true);
      assert.equal(await store.releaseDevice(name), false);
      assert.equal(await claim("key_5"), "claimed");
      await store.revokeKey("key_5", NOW);
      assert.equal(await store.deviceOwner(name), undefined);
      assert.equal(await claim("key_1"), "claimed");
    },
  "the next owner of a released device decides what kind of device it is [role-release]": async (store) => {
    await store.insertKey(aKey(5));
    const name = { account: "a", id: "dev_l" };
    await store.claimDevice(aDevice("dev_l", { kind: "script" }), aClaim("key_1"));
    assert.equal(await store.releaseDevice(name), true);
    const claimed = await store.claimDevice(aDevice("dev_l", { kind: "listener" }), aClaim("key_5"));
    assert.deepEqual([claimed, (await store.findDevice(name))?.kind], ["claimed", "listener"]);
  },
  "revoking a device revokes the key that claimed it, unless others use that key, which is then reported [http-revoke]":
    async (store) => {
      await store.insertKey(aKey(5));
      for (const id of ["dev_p", "dev_q"]) {
        await store.claimDevice(aDevice(id, { kind: "phone" }), aClaim("key_1"));
      }
      await store.insertKey(aKey(6, { parent: "key_5", role: "phone", deviceId: "dev_r" }));
      await store.claimDevice(aDevice("dev_l"), aClaim("key_5"));
      const revoke = async (id: string) => ({ ...await store.revokeDevice({ account: "a", id }, NOW) });
      assert.deepEqual(await revoke("dev_p"), { keys: [], workingKey: "key_1" });
      assert.deepEqual(await revoke("dev_q"), { keys: ["key_1"], workingKey: undefined });
      assert.equal((await store.findKeyById("key_1"))?.revokedAt, NOW);
      assert.deepEqual(await revoke("dev_l"), { keys: [], workingKey: "key_5" }, "a phone was paired by it");
      await store.insertKey(aKey(7, { role: "listener", deviceId: "dev_listener_new" }));
      await store.claimDevice(aDevice("dev_script", { kind: "script" }), aClaim("key_7"));
      const ofHost = await revoke("dev_script");
      assert.deepEqual(ofHost, { keys: [], workingKey: "key_7" }, "its host has not connected yet");
    },
  "a phone that a key's revocation locks out is no longer notified [http-revoke, role-cascade]": async (
    store,
  ) => {
    await store.insertKey(aKey(5));
    await store.insertKey(aKey(6, { parent: "key_5", role: "phone", deviceId: "dev_p" }));
    await store.saveDevice(aDevice("dev_p", { kind: "phone" }));
    await store.claimDevice(aDevice("dev_q", { kind: "phone" }), aClaim("key_1"));
    const subscription = { endpoint: "https://push.example/1", keys: { p256dh: "x", auth: "y" } };
    for (const id of ["dev_p", "dev_q"]) await store.saveWebPush({ account: "a", id }, subscription);
    const rung = async () => [...(await store.listWebPush("a")).keys()];
    assert.deepEqual(await rung(), ["dev_p", "dev_q"]);
    await store.revokeKey("key_5", NOW);
    assert.deepEqual(await rung(), ["dev_q"]);
    await store.revokeKey("key_1", NOW, { only: true });
    assert.deepEqual(await rung(), []);
  },
  "a revoked key, and any key for a revoked device, claims nothing [http-revoke]": async (store) => {
    await store.insertKey(aKey(5));
    await store.revokeKey("key_5", NOW);
    assert.equal(await store.claimDevice(aDevice("dev_l"), aClaim("key_5")), "revoked");
    assert.equal(await store.findDevice({ account: "a", id: "dev_l" }), undefined);
    assert.equal(await store.claimDevice(aDevice("dev_l"), aClaim("key_1")), "claimed");
    await store.revokeDevice({ account: "a", id: "dev_l" }, NOW);
    assert.equal(await store.claimDevice(aDevice("dev_l"), aClaim("key_1")), "revoked");
  },
  "claims are limited per key and per account, even when many are made at once [flood-devices]": async (
    store,
  ) => {
    await store.insertKey(aKey(5));
    const claim = (n: number, keyId: string) =>
      store.claimDevice(aDevice(`dev_${n}`), aClaim(keyId, { ofKey: 2, ofAccount: 3 }));
    assert.deepEqual(await Promise.all([1, 2, 3].map((n) => claim(n, "key_1"))), [
      "claimed",
      "claimed",
      "key_full",
    ]);
    assert.deepEqual(await Promise.all([4, 5].map((n) => claim(n, "key_5"))), ["claimed", "account_full"]);
    assert.equal(await claim(1, "key_1"), "claimed");
  },
  "a revoked or released device makes room for another one of its key [flood-devices]": async (
    store,
  ) => {
    const claim = (n: number) =>
      store.claimDevice(aDevice(`dev_${n}`), aClaim("key_1", { ofKey: 2, ofAccount: 9 }));
    assert.deepEqual([await claim(1), await claim(2), await claim(3)], ["claimed", "claimed", "key_full"]);
    await store.revokeDevice({ account: "a", id: "dev_1" }, NOW);
    assert.equal((await store.keyUse("key_1", NOW)).devices, 1);
    assert.deepEqual([await claim(3), await claim(1), await claim(4)], ["claimed", "revoked", "key_full"]);
    await store.releaseDevice({ account: "a", id: "dev_2" });
    assert.equal(await claim(4), "claimed");
  },
  "a key whose parent was revoked is not stored [role-cascade]": async (store) => {
    await store.revokeKey("key_1", NOW);
    assert.equal(await store.insertKey(aKey(5, { parent: "key_1", deviceId: "dev_p" })), false);
    assert.equal(await store.findKeyById("key_5"), undefined);
    assert.equal(await store.deviceOwner({ account: "a", id: "dev_p" }), undefined);
    assert.equal(await store.insertKey(aKey(6, { parent: "key_2" })), true);
  },
  "a key created for a device owns it at once, and a replacement key inherits what the old key owned [role-owner]":
    async (store) => {
      await store.insertKey(aKey(5, { deviceId: "dev_l", role: "listener" }));
      assert.equal(await store.claimDevice(aDevice("dev_l"), aClaim("key_1")), "taken");
      await store.insertKey(aKey(6, { parent: "key_5" }));
      await store.claimDevice(aDevice("dev_phone_browser", { kind: "phone" }), aClaim("key_5"));
      await store.replaceKey({ from: "key_5", to: "key_1" });
      assert.equal(await store.deviceOwner({ account: "a", id: "dev_phone_browser" }), "key_5");
      assert.equal(await store.deviceOwner({ account: "a", id: "dev_l" }), "key_1");
      assert.deepEqual(await store.revokeKey("key_5", NOW), ["key_5"]);
      const pairing = { account: "a", keyId: "key_1", scopes: ["push:read"] as const };
      await store.insertPairing({ ...pairing, codeHash: bytes(1), expiresAt: NOW + 5 });
      await store.insertPairing({ ...pairing, codeHash: bytes(2), expiresAt: NOW + 9 });
      assert.deepEqual(await store.keyUse("key_1", NOW), {
        devices: 2,
        openPairings: 2,
        firstPairingEnds: NOW + 5,
      });
      await store.takePairing(bytes(1), NOW);
      assert.equal((await store.keyUse("key_1", NOW)).firstPairingEnds, NOW + 9);
      assert.equal((await store.keyUse("key_1", NOW + 9)).openPairings, 0);
    },
};
