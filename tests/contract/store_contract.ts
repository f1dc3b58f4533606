/** The store's contract: one set of cases, run over each implementation on each runtime. */
import assert from "node:assert/strict";
import { CLAIMED_PAIRINGS_PER_KEY } from "../../src/protocol/limits.ts";
import type { ReportedDetails } from "../../src/protocol/session.ts";
import type { Receipt } from "../../src/protocol/receipt.ts";
import {
  HOOKS_MAX,
  type PageRequest,
  type Revocation,
  type Store,
  STORED_REGAINED_PER_MS,
  type StoredPush,
} from "../../src/store/store.ts";
import type { Case } from "../helpers/on_node.ts";
import { OWNERS } from "./store_owners.ts";
import { QUESTIONS } from "./store_questions.ts";
import {
  aClaim,
  aDevice,
  aKey,
  aPush,
  type Body,
  bytes,
  idsOf,
  NOW,
  type OpenStore,
  pageOf,
  queued,
  sessionEntry,
  uuid,
} from "./store_samples.ts";

const BODIES: Record<string, Body> = {
  ...OWNERS,
  ...QUESTIONS,
  "a key is found from its hash alone, with every field [sec-key-stored]": async (store) => {
    const key = aKey(7, { scopes: ["push:send", "admin"], deviceId: "dev_x" });
    await store.insertKey(key);
    assert.deepEqual({ ...await store.findKey(bytes(7)) }, key);
    assert.deepEqual({ ...await store.findKeyById("key_7") }, key);
    assert.equal(await store.findKey(bytes(8)), undefined);
  },
  "keys are listed by account, oldest first [rl-accounts]": async (store) => {
    await store.insertKey(aKey(9));
    await store.insertKey(aKey(8));
    assert.deepEqual((await store.listKeys("a")).map(({ id }) => id), ["key_1", "key_8", "key_9"]);
    assert.deepEqual((await store.listKeys("b")).map(({ id }) => id), ["key_2"]);
    assert.equal((await store.listKeys()).length, 4);
  },
  "a key is revoked once, and watchers are notified": async (store) => {
    const heard = Promise.withResolvers<Revocation>();
    const stop = store.watchRevocations(heard.resolve);
    assert.deepEqual(await store.revokeKey("key_1", NOW), ["key_1"]);
    assert.deepEqual(await store.revokeKey("key_1", NOW + 1), []);
    assert.deepEqual(await store.revokeKey("key_none", NOW), []);
    assert.equal((await store.findKey(bytes(1)))?.revokedAt, NOW);
    assert.deepEqual(await heard.promise, { kind: "key", account: "a", id: "key_1" });
    stop();
  },
  "a page ends before the push that does not fit, but has at least one [flood-pages]": async (store) => {
    for (let n = 1; n <= 4; n++) await store.insertPush(aPush(n));
    const [first] = await pageOf(store, { account: "a", limit: 1 }) ?? [];
    const size = JSON.stringify(first?.push).length + JSON.stringify(first?.receipt).length;
    const page = async (bytes: number, request: Partial<PageRequest> = {}) => {
      const found = await store.pagePushes({ account: "a", limit: 9, bytes, ...request });
      return [idsOf(found?.pushes), found?.hasMore, found?.bytes];
    };
    assert.deepEqual(await page(2 * size), [[uuid(1), uuid(2)], true, 2 * size]);
    assert.deepEqual(await page(1, { after: uuid(1) }), [[uuid(2)], true, size]);
    assert.deepEqual(await page(3 * size - 1, { before: "end" }), [[uuid(3), uuid(4)], true, 2 * size]);
    assert.deepEqual(await page(9 * size), [[uuid(1), uuid(2), uuid(3), uuid(4)], false, 4 * size]);
  },
  "saving a device again keeps createdAt and replaces the other fields": async (store) => {
    await store.saveDevice(aDevice("dev_l"));
    const later = aDevice("dev_l", { name: "renamed", online: true, createdAt: NOW + 5, lastSeen: NOW + 5 });
    await store.saveDevice({ ...later, publicKey: "pk" });
    const found = await store.findDevice({ account: "a", id: "dev_l" });
    assert.deepEqual({ ...found }, { ...later, publicKey: "pk", createdAt: NOW });
    assert.equal(await store.findDevice({ account: "b", id: "dev_l" }), undefined);
  },
  "a revoked device is no longer listed, and its keys and subscription are gone [http-revoke]": async (
    store,
  ) => {
    await store.saveDevice(aDevice("dev_l"));
    await store.saveDevice(aDevice("dev_p", { kind: "phone" }));
    await store.insertKey(aKey(5, { deviceId: "dev_p" }));
    const subscription = { endpoint: "https://push.example/1", keys: { p256dh: "x", auth: "y" } };
    await store.saveWebPush({ account: "a", id: "dev_p" }, subscription);
    assert.equal(await store.revokeDevice({ account: "b", id: "dev_p" }, NOW), undefined);
    const revoked = await store.revokeDevice({ account: "a", id: "dev_p" }, NOW);
    assert.deepEqual({ ...revoked }, { keys: ["key_5"], workingKey: undefined });
    assert.equal(await store.revokeDevice({ account: "a", id: "dev_p" }, NOW), undefined);
    assert.deepEqual((await store.listDevices("a")).map(({ id }) => id), ["dev_l"]);
    assert.equal((await store.findKey(bytes(5)))?.revokedAt, NOW);
    assert.equal((await store.findKey(bytes(1)))?.revokedAt, undefined);
    assert.equal(await store.findWebPush({ account: "a", id: "dev_p" }), undefined);
  },
  "names that every object has are not ids, and revoking them revokes nothing": async (store, again) => {
    await store.saveDevice(aDevice("dev_l"));
    await store.insertKey(aKey(4));
    await store.countHook({ account: "a", id: "hook_1" }, NOW);
    for (const id of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
      for (const account of ["a", "nobody"]) {
        const name = { account, id };
        assert.equal(await store.findDevice(name), undefined);
        assert.equal(await store.deviceOwner(name), undefined);
        assert.equal(await store.findWebPush(name), undefined);
        assert.equal(await store.removeWebPush(name), false);
        assert.equal(await store.revokeDevice(name, NOW), undefined);
        assert.equal(await store.setHookState(name, "revoked"), undefined);
      }
    }
    assert.deepEqual([({} as { revokedAt?: number }).revokedAt, ({} as { state?: string }).state], [
      undefined,
      undefined,
    ]);
    store = await again();
    assert.equal((await store.findKey(bytes(4)))?.revokedAt, undefined);
    assert.deepEqual((await store.listDevices("a")).map(({ id }) => id), ["dev_l"]);
    assert.equal(await store.countHook({ account: "a", id: "hook_1" }, NOW), "active");
  },
  "a new key for a revoked device restores the device": async (store) => {
    await store.saveDevice(aDevice("dev_l"));
    await store.revokeDevice({ account: "a", id: "dev_l" }, NOW);
    await store.insertKey(aKey(6, { deviceId: "dev_l" }));
    assert.equal((await store.findDevice({ account: "a", id: "dev_l" }))?.revokedAt, undefined);
  },
  "a device that was online is offline after a restart, last seen at the time of the restart": async (
    store,
  ) => {
    await store.saveDevice(aDevice("dev_l", { online: true }));
    await store.saveDevice(aDevice("dev_m"));
    await store.setAllOffline(NOW + 9);
    const seen = (await store.listDevices("a")).map(({ online, lastSeen }) => ({ online, lastSeen }));
    assert.deepEqual(seen, [{ online: false, lastSeen: NOW + 9 }, { online: false, lastSeen: NOW }]);
    await store.setOnline({ account: "a", id: "dev_m" }, { online: true, now: NOW + 10 });
    assert.equal((await store.findDevice({ account: "a", id: "dev_m" }))?.online, true);
  },
  "a device whose connection ends while its first claim is being stored is offline": async (store) => {
    const name = { account: "a", id: "dev_s" };
    const claimed = store.claimDevice(aDevice(name.id, { kind: "script", online: true }), aClaim("key_1"));
    await Promise.all([claimed, store.setOnline(name, { online: false, now: NOW })]);
    assert.equal(await claimed, "claimed");
    assert.equal((await store.findDevice(name))?.online, false);
  },
  "a push is stored completely and survives a restart [http-202]": async (store, again) => {
    const { stored, duplicate } = await store.insertPush(aPush(1));
    assert.equal(duplicate, false);
    const reopened = await again();
    const found = await reopened.findPush({ account: "a", id: uuid(1) });
    assert.deepEqual({ ...found }, { ...aPush(1), seq: stored.seq });
    assert.equal(await reopened.findPush({ account: "b", id: uuid(1) }), undefined);
  },
  "a reused id stores nothing and returns the first push, per account [proto-push-id]": async (store) => {
    await store.insertPush(aPush(1));
    const again = await store.insertPush(aPush(1, { digest: bytes(9) }));
    assert.equal(again.duplicate, true);
    assert.deepEqual(again.stored.digest, bytes(1));
    assert.equal((await store.insertPush(aPush(1, { account: "b" }))).duplicate, false);
    assert.equal((await pageOf(store, { account: "a", limit: 10 }))?.length, 1);
  },
  "many concurrent pushes are all stored in order, one per id": async (store) => {
    const wanted = Array.from({ length: 300 }, (_, n) => aPush(n % 200));
    const answers = await Promise.all(wanted.map((push) => store.insertPush(push)));
    assert.equal(answers.filter(({ duplicate }) => duplicate).length, 100);
    const page = await pageOf(store, { account: "a", limit: 500 });
    assert.deepEqual(idsOf(page), Array.from({ length: 200 }, (_, n) => uuid(n)));
  },
  "history pages forward from a push, and backward from a push or the end [http-history]": async (store) => {
    for (let n = 1; n <= 5; n++) await store.insertPush(aPush(n));
    const page = async (request: { after?: string; before?: string }): Promise<string[] | undefined> =>
      idsOf(await pageOf(store, { account: "a", limit: 2, ...request }));
    assert.deepEqual(await page({}), [uuid(1), uuid(2)]);
    assert.deepEqual(await page({ after: uuid(2) }), [uuid(3), uuid(4)]);
    assert.deepEqual(await page({ after: uuid(5) }), []);
    assert.deepEqual(await page({ before: "end" }), [uuid(4), uuid(5)]);
    assert.deepEqual(await page({ before: uuid(4) }), [uuid(2), uuid(3)]);
    assert.equal(await page({ after: uuid(99) }), undefined);
    assert.equal(await pageOf(store, { account: "b", after: uuid(1), limit: 2 }), undefined);
  },
  "a sender's stored bytes are counted in UTF-8, once per push, across restarts, and regained over a day [flood-stored]":
    async (store, again) => {
      const sender = { account: "a", from: "key_1" };
      const stored = (now = NOW): Promise<number> => store.storedBytes(sender, now);
      assert.equal(await stored(), 0);
      const { push, ...rest } = aPush(1);
      await store.insertPush({ ...rest, push: { ...push, body: "€".repeat(10_000) } });
      const first = await stored();
      assert.ok(first > 30_000 && first < 32_000, `${first}`);
      await store.insertPush({ ...rest, push });
      assert.equal(await stored(), first);
      await store.insertPush({ ...aPush(2), push: { ...aPush(2).push, from: "key_other" } });
      await store.insertPush(aPush(3, { account: "b" }));
      assert.equal(await stored(), first);
      store = await again();
      assert.equal(await stored(), first);
      const second = { ...aPush(4).push, createdAt: NOW + 10_000 };
      await store.insertPush(aPush(4, { push: second }));
      const regained = 10_000 * STORED_REGAINED_PER_MS;
      const size = await stored(NOW + 10_000) - (first - regained);
      assert.ok(size > 512 && size < 1_500, `${size}`);
      assert.equal(await stored(NOW + 86_400_000), 0);
      assert.ok(
        await stored(NOW - 86_400_000) > first - regained,
        "a clock that was set back regains nothing",
      );
      await store.removePushes({ madeBefore: NOW + 20_000, expiredBefore: 0 });
      assert.equal(await stored(NOW + 10_000), 0);
    },
  "a receipt changes by a decision on its current state": async (store) => {
    await store.insertPush(aPush(1));
    const name = { account: "a", id: uuid(1) };
    const typed: Receipt = { state: "typed", final: true, at: { queued: NOW, typed: NOW + 1 } };
    const changed = await store.changeReceipt(
      name,
      ({ receipt }) => receipt.state === "queued" ? typed : undefined,
    );
    assert.deepEqual([changed?.changed, changed?.stored.receipt], [true, typed]);
    const again = await store.changeReceipt(
      name,
      ({ receipt }) => receipt.state === "queued" ? typed : undefined,
    );
    assert.deepEqual([again?.changed, again?.stored.receipt], [false, typed]);
    assert.deepEqual((await store.findPush(name))?.receipt, typed);
    assert.equal(await store.changeReceipt({ account: "b", id: uuid(1) }, () => typed), undefined);
  },
  "an answer is stored together with the closing of its question, or not at all [type-answer]": async (
    store,
  ) => {
    const asked: Receipt = { state: "delivered", final: false, at: {} };
    await store.insertPush(aPush(1, { receipt: asked }));
    const close = ({ receipt }: { receipt: Receipt }): Receipt | undefined =>
      receipt.final ? undefined : { ...receipt, state: "answered", final: true };
    const answer = (n: number, id = uuid(1)) => {
      const push = { ...aPush(n).push, createdAt: Date.now() };
      return store.insertAnswer(aPush(n, { push }), { id, close });
    };
    const kinds = (await Promise.all([answer(2), answer(3), answer(2)])).map(({ kind }) => kind);
    assert.deepEqual(kinds, ["stored", "closed", "duplicate"]);
    assert.equal((await store.findPush({ account: "a", id: uuid(1) }))?.receipt.state, "answered");
    assert.equal((await store.findPush({ account: "a", id: uuid(2) }))?.push.body, "text 2");
    assert.equal(await store.findPush({ account: "a", id: uuid(3) }), undefined);
    assert.deepEqual(await answer(4, uuid(9)), { kind: "closed" });
    const failing = store.insertAnswer(aPush(5), { id: uuid(1), close: () => assert.fail("broken") });
    await assert.rejects(failing, /broken/);
    assert.equal(await store.findPush({ account: "a", id: uuid(5) }), undefined);
  },
  "a throwing decision fails alone": async (store) => {
    await store.insertPush(aPush(1));
    const failing = store.changeReceipt({ account: "a", id: uuid(1) }, () => {
      throw new RangeError("no");
    });
    const other = store.insertPush(aPush(2));
    await assert.rejects(failing, RangeError);
    assert.equal((await other).duplicate, false);
    assert.deepEqual(idsOf(await pageOf(store, { account: "a", limit: 9 })), [uuid(1), uuid(2)]);
  },
  "a listener's open pushes are listed in order, without final ones and those of others [ev-push-resend]":
    async (store) => {
      const final: Receipt = { ...queued, state: "typed", final: true };
      await store.insertPush(aPush(1));
      await store.insertPush(aPush(2, { target: "dev_other" }));
      await store.insertPush(aPush(3, { receipt: final }));
      await store.insertPush(aPush(4, { target: undefined }));
      const { stored } = await store.insertPush(aPush(5));
      const device = { account: "a", id: "dev_l" };
      assert.deepEqual(idsOf(await store.openPushes(device, { afterSeq: 0, limit: 9 })), [uuid(1), uuid(5)]);
      assert.deepEqual(idsOf(await store.openPushes(device, { afterSeq: 0, limit: 1 })), [uuid(1)]);
      assert.deepEqual(await store.openPushes(device, { afterSeq: stored.seq, limit: 9 }), []);
    },
  "due pushes are the expired ones that are not final, of all accounts, the first to expire first": async (
    store,
  ) => {
    await store.insertPush(aPush(1, { expiresAt: NOW + 2 }));
    await store.insertPush(aPush(2, { expiresAt: NOW + 3 }));
    await store.insertPush(aPush(3, { expiresAt: NOW + 1, account: "b" }));
    await store.insertPush(aPush(4, { expiresAt: NOW + 2 }));
    const due = async (after?: StoredPush): Promise<StoredPush[]> =>
      await store.duePushes({ now: NOW + 2, after, limit: 9 });
    const all = await due();
    assert.deepEqual(idsOf(all), [uuid(3), uuid(1), uuid(4)]);
    assert.deepEqual(idsOf(await due(all[0])), [uuid(1), uuid(4)]);
    assert.deepEqual(idsOf(await due(all[1])), [uuid(4)]);
  },
  "old pushes are removed, and expired ones earlier": async (store) => {
    const expired: Receipt = { ...queued, state: "expired", final: true };
    const old = aPush(1);
    await store.insertPush({ ...old, push: { ...old.push, createdAt: NOW - 100 } });
    await store.insertPush(aPush(2, { receipt: expired, expiresAt: NOW + 10 }));
    await store.insertPush(aPush(3, { receipt: expired, expiresAt: NOW + 90 }));
    await store.insertPush(aPush(4));
    assert.equal(await store.removePushes({ madeBefore: NOW - 50, expiredBefore: NOW + 50 }), 2);
    assert.deepEqual(idsOf(await pageOf(store, { account: "a", limit: 9 })), [uuid(3), uuid(4)]);
  },
  "a host's details stay until others are reported [det-report]": async (store) => {
    const save = (details?: ReportedDetails): Promise<void> =>
      store.saveInventory({ account: "a", deviceId: "dev_l", sessions: [], details, reportedAt: NOW });
    const kept = async () => (await store.findInventory({ account: "a", id: "dev_l" }))?.details;
    await store.saveDevice(aDevice("dev_l"));
    await save();
    assert.equal(await kept(), undefined);
    await save({ plain: { at: 1 } });
    await save();
    assert.deepEqual(await kept(), { plain: { at: 1 } });
    await save({ plain: { at: 2 } });
    assert.deepEqual(await kept(), { plain: { at: 2 } });
  },
  "an inventory replaces the previous one, and unknown fields are kept [entry-unknown, res-inventory-stored]":
    async (
      store,
    ) => {
      const entry = { name: "svc-p", project: "p", invented: { deep: [1] } };
      const save = (names: string[]): Promise<void> =>
        store.saveInventory({
          account: "a",
          deviceId: "dev_l",
          sessions: names.map((name) => ({ ...sessionEntry, ...entry, name })),
          reportedAt: NOW,
        });
      await store.saveDevice(aDevice("dev_l"));
      await save(["svc-old", "svc-p"]);
      await save(["svc-p", "svc-p"]);
      const [inventory] = await store.listInventories("a");
      assert.deepEqual(inventory?.sessions.map(({ name }) => name), ["svc-p", "svc-p"]);
      assert.deepEqual(inventory?.sessions[0]?.["invented"], { deep: [1] });
      assert.deepEqual(await store.devicesWithSession("a", "svc-p"), ["dev_l"]);
      assert.deepEqual(await store.devicesWithSession("a", "svc-old"), []);
      assert.deepEqual(await store.devicesWithSession("b", "svc-p"), []);
      await store.revokeDevice({ account: "a", id: "dev_l" }, NOW);
      assert.deepEqual(await store.devicesWithSession("a", "svc-p"), []);
    },
  "a pairing code is claimed once, before it expires [sec-claim]": async (store) => {
    const pairing = { account: "a", keyId: "key_1", scopes: ["push:read"] as const, expiresAt: NOW + 10 };
    await store.insertPairing({ ...pairing, codeHash: bytes(1) });
    await store.insertPairing({ ...pairing, codeHash: bytes(2) });
    assert.equal(await store.takePairing(bytes(3), NOW), undefined);
    assert.equal(await store.takePairing(bytes(1), NOW + 10), undefined);
    const taken = await Promise.all([store.takePairing(bytes(1), NOW), store.takePairing(bytes(1), NOW)]);
    assert.deepEqual(taken.filter((one) => one !== undefined).map(({ keyId }) => keyId), ["key_1"]);
    await store.removePairings({ openBefore: NOW + 10, takenBefore: NOW });
    assert.equal(await store.takePairing(bytes(2), NOW), undefined);
    assert.equal((await store.findPairing(bytes(1)))?.keyId, "key_1");
    await store.removePairings({ openBefore: NOW + 10, takenBefore: NOW + 10 });
    assert.equal(await store.findPairing(bytes(1)), undefined);
  },
  "only the newest claimed codes of a key are kept; open ones and those of other keys stay [flood-pairings]":
    async (store) => {
      const insert = async (n: number, keyId: string): Promise<void> => {
        const pairing = { account: "a", keyId, scopes: ["push:read"] as const, expiresAt: NOW + n };
        await store.insertPairing({ ...pairing, codeHash: bytes(n) });
      };
      const isKept = async (n: number) => await store.findPairing(bytes(n)) !== undefined;
      await insert(1, "key_5");
      await store.takePairing(bytes(1), NOW);
      await insert(2, "key_1");
      const newest = 3 + CLAIMED_PAIRINGS_PER_KEY;
      for (let n = 3; n <= newest; n++) {
        await insert(n, "key_1");
        await store.takePairing(bytes(n), NOW);
      }
      await insert(newest + 1, "key_1");
      assert.deepEqual(await Promise.all([1, 2, 3, 4, newest, newest + 1].map(isKept)), [
        ...[true, true, false],
        ...[true, true, true],
      ]);
    },
  "a pairing keeps the host's offer and the phone that claimed it": async (store) => {
    const offer = { deviceId: "dev_l", host: "desk", publicKey: "L", proof: "x" };
    const pairing = { account: "a", keyId: "key_1", scopes: ["push:read"] as const, expiresAt: NOW + 10 };
    await store.insertPairing({ ...pairing, codeHash: bytes(4), offer });
    assert.deepEqual((await store.findPairing(bytes(4)))?.offer, offer);
    assert.deepEqual((await store.takePairing(bytes(4), NOW))?.offer, offer);
    const phone = { deviceId: "dev_p", name: "iPhone", publicKey: "P", proof: "y" };
    await store.completePairing(bytes(4), phone);
    assert.deepEqual((await store.findPairing(bytes(4)))?.phone, phone);
  },
  "a phone's subscription is replaced and removed": async (store) => {
    const device = { account: "a", id: "dev_p" };
    await store.claimDevice(aDevice("dev_p", { kind: "phone" }), aClaim("key_1"));
    const subscription = { endpoint: "https://push.example/1", keys: { p256dh: "x", auth: "y" } };
    await store.saveWebPush(device, subscription);
    await store.saveWebPush(device, { ...subscription, endpoint: "https://push.example/2" });
    assert.equal((await store.findWebPush(device))?.endpoint, "https://push.example/2");
    assert.deepEqual([...(await store.listWebPush("a")).keys()], ["dev_p"]);
    assert.equal(await store.removeWebPush(device), true);
    assert.equal(await store.removeWebPush(device), false);
  },
  "hooks are counted per account, keep their state, and are bounded in number": async (store, again) => {
    const hook = { account: "a", id: "hook_1" };
    assert.equal(await store.setHookState(hook, "muted"), undefined);
    assert.equal(await store.countHook(hook, NOW), "active");
    assert.equal((await store.setHookState(hook, "muted"))?.pushes, 1);
    assert.equal(await store.countHook(hook, NOW + 5), "muted");
    await store.countHook({ account: "b", id: "hook_1" }, NOW);
    store = await again();
    assert.deepEqual(await store.listHooks("a"), [
      { ...hook, state: "muted", pushes: 2, firstSeen: NOW, lastSeen: NOW + 5 },
    ]);
    const many = Array.from({ length: HOOKS_MAX }, (_, n) => ({ account: "a", id: `hook_many_${n}` }));
    await Promise.all(many.map((one) => store.countHook(one, NOW + 9)));
    assert.equal((await store.listHooks("a")).length, HOOKS_MAX);
    assert.equal(await store.countHook(hook, NOW + 10), "muted");
    const latest = { account: "a", id: "hook_new" };
    assert.equal(await store.countHook(latest, NOW + 11), "active");
    // Made-up ids can neither keep out a new installation nor activate a muted one.
    assert.equal((await store.setHookState(latest, "muted"))?.pushes, 1);
    const listed = await store.listHooks("a");
    assert.equal(listed.length, HOOKS_MAX);
    assert.deepEqual(listed.filter(({ state }) => state === "muted").map(({ id }) => id), [
      "hook_1",
      "hook_new",
    ]);
  },
  "the store is ready while it is open": async (store) => {
    await store.ready();
  },
};

export function storeCases(open: OpenStore): Case[] {
  return Object.entries(BODIES).map(([name, body]) => ({
    name,
    async run(runtime, directory) {
      let store = await open(runtime, directory);
      const again = async (): Promise<Store> => {
        await store.close();
        return store = await open(runtime, directory);
      };
      try {
        await store.insertKey(aKey(1));
        await store.insertKey(aKey(2, { account: "b" }));
        await body(store, again);
      } finally {
        await store.close();
      }
    },
  }));
}
