/** Copying a whole store into another: from SQLite to NATS and back, repeatedly. */
import assert from "node:assert/strict";
import type { Receipt } from "../../src/protocol/receipt.ts";
import type { WebPushSubscription } from "../../src/protocol/web_push.ts";
import { copyStore } from "../../src/store/open.ts";
import { openNatsStore } from "../../src/store/nats.ts";
import { openStore } from "../../src/store/sqlite.ts";
import {
  type AccountCopy,
  type Store,
  type StoredPush,
  StoreInUse,
  StoreUnavailable,
} from "../../src/store/store.ts";
import { startNats } from "../helpers/nats_server.ts";
import type { Case } from "../helpers/on_node.ts";
import { aClaim, aDevice, aKey, aPush, bytes, NOW, queued, uuid } from "./store_samples.ts";

const LATER = NOW + 1_000;
const typed: Receipt = { ...queued, state: "typed", final: true };
const SUBSCRIPTION: WebPushSubscription = {
  endpoint: "https://push.example/1",
  keys: { p256dh: "p", auth: "a" },
};

/**
 * Fills a store with every kind of record, in the accounts `a` and `b.*`, whose name contains characters special to
 * NATS.
 */
async function fill(store: Store): Promise<void> {
  await store.insertKey(aKey(1, { scopes: ["push:send", "admin"] }));
  await store.insertKey(aKey(2, { account: "b.*" }));
  await store.insertKey(aKey(3, { parent: "key_1", role: "phone", deviceId: "dev_p" }));
  await store.insertKey(aKey(4, { deviceId: "dev_old", role: "listener" }));
  await store.claimDevice(aDevice("dev_l", { publicKey: "key" }), aClaim("key_1"));
  await store.saveDevice(aDevice("dev_p", { kind: "phone", createdAt: NOW + 1 }));
  await store.saveDevice(aDevice("dev_old", { createdAt: NOW + 2 }));
  await store.revokeDevice({ account: "a", id: "dev_old" }, NOW + 5);
  await store.saveInventory({
    account: "a",
    deviceId: "dev_l",
    reportedAt: NOW,
    sessions: [{ name: "svc-x" }] as never,
    details: undefined,
  });
  await store.saveDevice(aDevice("dev_q", { createdAt: NOW + 3 }));
  await store.saveInventory({
    account: "a",
    deviceId: "dev_q",
    reportedAt: NOW,
    sessions: [],
    details: undefined,
  });
  const code = { account: "a", keyId: "key_1", scopes: ["push:read" as const], expiresAt: NOW + 90 };
  await store.insertPairing({ ...code, codeHash: bytes(20) });
  await store.insertPairing({ ...code, codeHash: bytes(21) });
  await store.takePairing(bytes(21), NOW);
  await store.completePairing(bytes(21), { deviceId: "dev_p", name: "phone" } as never);
  await store.saveWebPush({ account: "a", id: "dev_p" }, SUBSCRIPTION);
  await store.keepSecret("vapid", "secret");
  await store.countHook({ account: "a", id: "hook.1" }, NOW);
  await store.setHookState({ account: "a", id: "hook.1" }, "muted");
  for (let n = 1; n <= 40; n++) await store.insertPush(aPush(n, n % 7 === 0 ? { account: "b.*" } : {}));
  await store.changeReceipt({ account: "a", id: uuid(3) }, () => typed);
}

/** Changes the store after the first copy, as a relay does until the last one. */
async function goOn(store: Store): Promise<void> {
  for (let n = 41; n <= 50; n++) await store.insertPush(aPush(n));
  await store.changeReceipt({ account: "a", id: uuid(4) }, () => typed);
  await store.revokeKey("key_3", NOW + 9);
  await store.revokeDevice({ account: "a", id: "dev_q" }, NOW + 10);
  await store.removeWebPush({ account: "a", id: "dev_p" });
  await store.takePairing(bytes(20), NOW);
  await store.releaseDevice({ account: "a", id: "dev_l" });
  await store.insertKey(aKey(5, { account: "c" }));
  await store.countHook({ account: "a", id: "hook.1" }, NOW + 3);
}

async function pushesOf(store: Store): Promise<StoredPush[]> {
  const all: StoredPush[] = [];
  for await (const page of store.readPushes()) all.push(...page);
  return all;
}

/** Returns everything that is stored, as plain JSON. */
async function contents(store: Store): Promise<unknown> {
  const accounts: AccountCopy[] = [];
  for (const account of await store.accountIds()) accounts.push(await store.readAccount(account));
  const pushes = (await pushesOf(store)).map(({ seq: _seq, ...push }) => push);
  return JSON.parse(JSON.stringify({ accounts, pushes, secrets: await store.readSecrets() }));
}

interface Place {
  open(): Promise<Store>;
  /** Opens the store as a relay does. */
  run(): Promise<Store>;
}

async function moves(first: Place, second: Place): Promise<void> {
  await using source = closing(await first.run());
  await fill(source);
  const copy = async (from: Store) => {
    await using to = closing(await second.open());
    const copied = await copyStore({ from, to }, LATER);
    assert.deepEqual(await contents(to), await contents(from));
    return copied;
  };
  const once = await copy(source);
  assert.deepEqual([once.pushes, once.added, once.changed], [40, 40, 0]);
  await goOn(source);
  const again = await copy(source);
  assert.deepEqual([again.accounts, again.pushes, again.added, again.changed], [3, 50, 10, 1]);
  const idle = await copy(source);
  assert.deepEqual([idle.added, idle.changed], [0, 0]);
  assert.equal(await source.isInUse(), true);
  await works(second);
  await assert.rejects(second.open().then((to) => copyInto(source, to)), StoreUnavailable);
}

/**
 * Asserts that a relay on the copy knows keys, devices, codes and sessions, refuses used ids, and delivers open pushes
 * in order.
 */
async function works({ run }: Place): Promise<void> {
  await using relay = closing(await run());
  assert.equal((await relay.findKey(bytes(1)))?.id, "key_1");
  assert.equal((await relay.findKeyById("key_3"))?.revokedAt, NOW + 9);
  assert.deepEqual(await relay.devicesWithSession("a", "svc-x"), ["dev_l"]);
  assert.equal((await relay.findPairing(bytes(21)))?.phone?.deviceId, "dev_p");
  assert.equal((await relay.insertPush(aPush(7, { account: "b.*" }))).duplicate, true);
  assert.equal((await relay.insertPush(aPush(51))).duplicate, false);
  const device = { account: "a", id: "dev_l" };
  await relay.setOnline(device, { online: true, now: LATER });
  const open = await relay.openPushes(device, { afterSeq: 0, limit: 99 });
  const wanted = Array.from({ length: 51 }, (_, n) => n + 1).filter((n) =>
    (n > 40 || n % 7 !== 0) && n !== 3 && n !== 4
  );
  assert.deepEqual(open.map(({ push }) => push.id), wanted.map(uuid));
}

async function copyInto(from: Store, target: Store): Promise<void> {
  await using to = closing(target);
  await copyStore({ from, to }, LATER);
}

function closing(store: Store): Store & AsyncDisposable {
  return { ...store, [Symbol.asyncDispose]: () => store.close() };
}

const BODIES: Record<string, (places: { sqlite: Place; nats: Place }) => Promise<void>> = {
  "everything moves from SQLite to NATS, in several copies, and a relay continues with it [run-migrate]": (
    { sqlite, nats },
  ) => moves(sqlite, nats),
  "everything moves from NATS to SQLite, in several copies, and a relay continues with it [run-migrate]": (
    { sqlite, nats },
  ) => moves(nats, sqlite),
  "a store that a running relay uses is not written [run-migrate]": async ({ sqlite, nats }) => {
    await using onNats = closing(await nats.run());
    await using onSqlite = closing(await sqlite.run());
    await assert.rejects(nats.open().then((to) => copyInto(onSqlite, to)), StoreInUse);
    await assert.rejects(sqlite.open().then((to) => copyInto(onNats, to)), StoreInUse);
  },
};

export const cases: readonly Case[] = Object.entries(BODIES).map(([name, body]) => ({
  name,
  async run(_runtime, directory) {
    const server = await startNats(directory);
    const address = { servers: [server.url], prefix: "test" };
    const folder = `${directory}/data`;
    try {
      await body({
        sqlite: {
          open: () => openStore(folder, { only: "copy" }),
          run: () => openStore(folder, { only: "relay" }),
        },
        nats: {
          open: () => openNatsStore(address),
          run: () => openNatsStore(address, { node: crypto.randomUUID() }),
        },
      });
    } finally {
      await server.stop();
    }
  },
}));
