/** Several processes on one NATS store: every decision is made once, and a dead node is noticed. */
import assert from "node:assert/strict";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connectNats } from "../../src/runtime/nats.ts";
import type { Receipt } from "../../src/protocol/receipt.ts";
import { openNatsStore } from "../../src/store/nats.ts";
import {
  type Store,
  STORED_REGAINED_PER_MS,
  type StoredPush,
  StoreUnavailable,
} from "../../src/store/store.ts";
import { startNats, startNatsCluster } from "../helpers/nats_server.ts";
import type { Case } from "../helpers/on_node.ts";
import { until } from "../helpers/until.ts";
import { aClaim, aDevice, aKey, aPush, bytes, idsOf, NOW, pageOf, queued, uuid } from "./store_samples.ts";

type Nodes = readonly [Store, Store];

/** Returns the outcomes of the same call on both nodes at once. */
function onBoth<T>(nodes: Nodes, call: (store: Store) => Promise<T>): Promise<T[]> {
  return Promise.all(nodes.map(call));
}

const BODIES: Record<string, (nodes: Nodes) => Promise<void>> = {
  "one id is stored once, whichever nodes receive it, and both nodes see one order": async (nodes) => {
    const wanted = Array.from({ length: 100 }, (_, n) => aPush(n));
    const found = await onBoth(nodes, (store) => Promise.all(wanted.map((push) => store.insertPush(push))));
    assert.equal(found.flat().filter(({ duplicate }) => !duplicate).length, 100);
    assert.deepEqual(found[0]?.map(({ stored }) => stored.seq), found[1]?.map(({ stored }) => stored.seq));
    const pages = await onBoth(nodes, (store) => pageOf(store, { account: "a", limit: 200 }));
    assert.equal(pages[0]?.length, 100);
    assert.deepEqual(idsOf(pages[0]), idsOf(pages[1]));
  },
  "a code is claimed once, and a device by one key, on any node": async (nodes) => {
    const [one] = nodes;
    await one.insertKey(aKey(5));
    await one.insertPairing({
      account: "a",
      keyId: "key_1",
      scopes: ["push:read"],
      expiresAt: NOW + 10,
      codeHash: bytes(1),
    });
    const taken = await onBoth(nodes, (store) => store.takePairing(bytes(1), NOW));
    assert.equal(taken.filter((pairing) => pairing !== undefined).length, 1);
    const claims = await Promise.all(
      nodes.map((store, n) => store.claimDevice(aDevice("dev_l"), aClaim(n === 0 ? "key_1" : "key_5"))),
    );
    assert.deepEqual(claims.sort(), ["claimed", "taken"]);
  },
  "a budget counts the pushes of all nodes": async (nodes) => {
    const sender = { account: "a", from: "key_1" };
    const [one, other] = nodes;
    await one.insertPush(aPush(1));
    const first = await other.storedBytes(sender, NOW);
    await Promise.all([2, 3, 4, 5].map((n) => nodes[n % 2 === 0 ? 0 : 1].insertPush(aPush(n))));
    assert.deepEqual(await onBoth(nodes, (store) => store.storedBytes(sender, NOW)), [5 * first, 5 * first]);
  },
  "a budget regains nothing if nodes whose clocks differ by a second take turns [nodes-clocks]": async (
    nodes,
  ) => {
    const sender = { account: "a", from: "key_1" };
    const [one] = nodes;
    await one.insertPush(aPush(0));
    const each = await one.storedBytes(sender, NOW);
    for (let n = 1; n < 20; n++) {
      const { push } = aPush(n);
      const createdAt = n % 2 === 0 ? NOW : NOW + 1_000;
      await nodes[n % 2 === 0 ? 0 : 1].insertPush(aPush(n, { push: { ...push, createdAt } }));
    }
    const regained = 1_000 * STORED_REGAINED_PER_MS;
    const stored = await one.storedBytes(sender, NOW + 1_000);
    assert.ok(stored >= 20 * each - regained, `${stored} of ${20 * each}`);
    const { push } = aPush(20);
    await one.insertPush(aPush(20, { push: { ...push, createdAt: NOW - 3_600_000 } }));
    assert.equal(
      await one.storedBytes(sender, NOW + 86_400_000),
      0,
      "a clock that was set back does not end it",
    );
  },
  "a question is answered once, by the answer that any node stored first": async (nodes) => {
    const [one] = nodes;
    await one.insertPush(aPush(1, { receipt: { state: "delivered", final: false, at: {} } }));
    const close = ({ receipt }: StoredPush): Receipt | undefined =>
      receipt.final ? undefined : { ...receipt, state: "answered", final: true };
    const outcomes = await Promise.all(
      nodes.map((store, n) => store.insertAnswer(aPush(2 + n), { id: uuid(1), close })),
    );
    assert.deepEqual(outcomes.map(({ kind }) => kind).sort(), ["closed", "stored"]);
  },
  "a push that one node stored is open on the other, which is notified; a final one is not": async (
    nodes,
  ) => {
    const [one, other] = nodes;
    const device = { account: "a", id: "dev_l" };
    assert.deepEqual(await other.openPushes(device, { afterSeq: 0, limit: 9 }), []);
    const heard = Promise.withResolvers<unknown>();
    const stop = other.watchPushes?.(heard.resolve);
    const { stored } = await one.insertPush(aPush(1));
    assert.deepEqual(await heard.promise, { ...device, seq: stored.seq });
    assert.deepEqual(idsOf(await other.openPushes(device, { afterSeq: 0, limit: 9 })), [uuid(1)]);
    const typed: Receipt = { ...queued, state: "typed", final: true };
    await one.changeReceipt({ account: "a", id: uuid(1) }, () => typed);
    await until(
      "it is final",
      async () => (await other.openPushes(device, { afterSeq: 0, limit: 9 })).length === 0,
    );
    stop?.();
  },
  "a push is held back or sent, never both, while its listener connects to another node [cancel-atomic]":
    async (nodes) => {
      const [one, other] = nodes;
      const device = { account: "a", id: "dev_l" };
      await one.saveDevice(aDevice("dev_l"));
      for (let n = 1; n <= 20; n++) {
        await one.setOnline(device, { online: true, now: NOW + 2 * n });
        await one.setOnline(device, { online: false, now: NOW + 2 * n + 1 });
        const { stored } = await one.insertPush(aPush(n, { expiresAt: Date.now() + 60_000 }));
        const holding = one.holdBack?.(stored);
        await other.setOnline(device, { online: true, now: NOW });
        const find = () => other.openPushes(device, { afterSeq: stored.seq - 1, limit: 9 });
        const sent = await find();
        const isHeld = await holding;
        if (isHeld) assert.deepEqual([sent, await find()], [[], []], `round ${n}`);
        else await until("the push", async () => (await find()).length === 1);
        await other.setOnline(device, { online: false, now: NOW });
        assert.equal(await one.holdBack?.(stored), isHeld, "held already, or may have been sent");
      }
    },
  "of a listener that leaves and comes back at once, the later change counts": async ([one]) => {
    const name = { account: "a", id: "dev_l" };
    await one.saveDevice(aDevice("dev_l", { online: true }));
    const leaving = one.setOnline(name, { online: false, now: NOW + 1 });
    await Promise.all([leaving, one.saveDevice(aDevice("dev_l", { online: true }))]);
    assert.equal((await one.findDevice(name))?.online, true);
  },
  "old pushes are removed by every node when they are due, including those that expire later": async (
    nodes,
  ) => {
    const expired: Receipt = { ...queued, state: "expired", final: true };
    const [one, other] = nodes;
    for (const n of [1, 2, 3]) await one.insertPush(aPush(n, { expiresAt: NOW + 10 * n }));
    const bounds = (expiredBefore: number) => ({ madeBefore: 0, expiredBefore });
    assert.deepEqual(await onBoth(nodes, (store) => store.removePushes(bounds(NOW + 15))), [0, 0]);
    for (const n of [1, 2]) await other.changeReceipt({ account: "a", id: uuid(n) }, () => expired);
    await one.insertPush(aPush(4, { receipt: expired, expiresAt: NOW + 10 }));
    assert.equal(await other.removePushes(bounds(NOW + 15)), 2);
    assert.equal(await one.removePushes(bounds(NOW + 25)), 1);
    assert.deepEqual(idsOf(await pageOf(one, { account: "a", limit: 9 })), [uuid(3)]);
    assert.equal(await one.removePushes({ madeBefore: NOW + 1, expiredBefore: 0 }), 1);
  },
  "a revocation on one node is announced on the other": async ([one, other]) => {
    const heard = Promise.withResolvers<unknown>();
    const stop = other.watchRevocations(heard.resolve);
    await one.revokeKey("key_1", NOW);
    assert.deepEqual(await heard.promise, { kind: "key", account: "a", id: "key_1" });
    stop();
  },
  "a device stays online when its older connection to another node closes, and goes offline with its node":
    async ([one, other]) => {
      const name = { account: "a", id: "dev_l" };
      const isOnline = async (store: Store) => (await store.findDevice(name))?.online;
      await one.saveDevice(aDevice("dev_l", { online: true }));
      await other.setOnline(name, { online: true, now: NOW + 1 });
      await one.setOnline(name, { online: false, now: NOW + 2 });
      assert.equal(await isOnline(one), true);
      await other.close();
      await until("the device is offline", async () => await isOnline(one) === false);
    },
  "a device stays online through its older connection when its newer one, on another node, ends [nodes-presence]":
    async ([one, other]) => {
      const name = { account: "a", id: "dev_script" };
      const isHere = async () => await other.nodeOf(name) !== undefined;
      const connect = async (store: Store): Promise<void> => {
        const online = { online: true, lastSeen: NOW };
        await store.claimDevice(aDevice(name.id, { kind: "script", ...online }), aClaim("key_1"));
      };
      await connect(one);
      await connect(other);
      await other.setOnline(name, { online: false, now: NOW + 1 });
      await until("the older connection counts", isHere);
      await connect(other);
      await other.setAllOffline(NOW + 2);
      await until("it counts when the other node restarts", isHere);
      assert.equal((await other.findDevice(name))?.online, true);
      await connect(other);
      await one.setOnline(name, { online: false, now: NOW + 3 });
      await other.setOnline(name, { online: false, now: NOW + 4 });
      assert.equal((await one.findDevice(name))?.online, false, "no connection is left");
      await connect(one);
      await connect(other);
      await other.close();
      const found = () => one.findDevice(name);
      await until("it counts when the other node died", async () => (await found())?.online === true);
    },
};

export const cases: readonly Case[] = [
  ...Object.entries(BODIES).map(([name, body]): Case => ({
    name,
    async run(_runtime, directory) {
      const server = await startNats(directory);
      const address = { servers: [server.url], prefix: "test" };
      const open = () => openNatsStore(address, { node: crypto.randomUUID() });
      const nodes = [await open(), await open()] as const;
      try {
        await nodes[0].insertKey(aKey(1));
        await body(nodes);
      } finally {
        for (const node of nodes) await node.close();
        await server.stop();
      }
    },
  })),
  {
    name: "a node that starts forgets those that have been dead for over 30 days [nodes-presence]",
    async run(_runtime, directory) {
      const server = await startNats(directory);
      const address = { servers: [server.url], prefix: "test" };
      const open = () => openNatsStore(address, { node: crypto.randomUUID() });
      const one = await open();
      const connection = await connectNats(address, { name: "test" });
      const dayMs = 24 * 3_600_000;
      const days = { old: 31, recent: 29 };
      for (const [node, ago] of Object.entries(days)) {
        await jetstream(connection).publish(
          `test.state.node.${node}`,
          JSON.stringify({ at: Date.now() - ago * dayMs }),
        );
      }
      const two = await open();
      const manager = await jetstreamManager(connection);
      const has = async (node: string): Promise<boolean> =>
        await manager.streams.getMessage("test-state", { last_by_subj: `test.state.node.${node}` }) !== null;
      assert.deepEqual([await has("old"), await has("recent")], [false, true]);
      await connection.close();
      for (const store of [one, two]) await store.close();
      await server.stop();
    },
  },
  {
    name: "a stored push is accepted even while its bytes cannot be counted",
    async run(_runtime, directory) {
      const server = await startNats(directory);
      const address = { servers: [server.url], prefix: "test" };
      const store = await openNatsStore(address, { node: crypto.randomUUID() });
      await store.insertKey(aKey(1));
      const connection = await connectNats(address, { name: "test" });
      const { streams } = await jetstreamManager(connection);
      const { state } = await streams.info("test-state");
      await streams.update("test-state", { max_msgs: state.messages });
      const { stored, duplicate } = await store.insertPush(aPush(1));
      assert.deepEqual([stored.push.id, duplicate], [uuid(1), false]);
      // Otherwise closing the store would wait for what it cannot write.
      await streams.update("test-state", { max_msgs: -1 });
      await connection.close();
      await store.close();
      await server.stop();
    },
  },
  {
    name: "a starting node reads only what came after another's checkpoint, and misses nothing [nats-start]",
    async run(_runtime, directory) {
      const server = await startNats(directory);
      const address = { servers: [server.url], prefix: "test" };
      const open = () => openNatsStore(address, { node: crypto.randomUUID() });
      const device = { account: "a", id: "dev_l" };
      const found = async (store: Store) => idsOf(await store.openPushes(device, { afterSeq: 0, limit: 99 }));
      const one = await open();
      await one.insertKey(aKey(1));
      const final: Receipt = { ...queued, state: "typed", final: true };
      const many = Array.from({ length: 1_100 }, (_, n) => n);
      await Promise.all(many.map((n) => one.insertPush(aPush(n, n < 1_090 ? { receipt: final } : {}))));
      assert.equal((await found(one))?.length, 10);
      const connection = await connectNats(address, { name: "test" });
      const manager = await jetstreamManager(connection);
      await until(
        "a checkpoint",
        () => manager.streams.getMessage("test-state", { last_by_subj: "test.state.checkpoint" }),
      );
      await connection.close();
      await one.changeReceipt({ account: "a", id: uuid(1_095) }, () => final);
      await one.insertPush(aPush(2_000));
      const two = await open();
      const wanted = [1_090, 1_091, 1_092, 1_093, 1_094, 1_096, 1_097, 1_098, 1_099, 2_000].map(uuid);
      assert.deepEqual((await found(two))?.toSorted(), wanted);
      await two.close();
      await one.close();
      await server.stop();
    },
  },
  {
    name:
      "a checkpoint of pushes that NATS has lost hides none of those in their place [nats-loss, nats-start]",
    async run(_runtime, directory) {
      const server = await startNats(directory);
      const address = { servers: [server.url], prefix: "test" };
      const open = () => openNatsStore(address, { node: crypto.randomUUID() });
      const one = await open();
      await one.insertKey(aKey(1));
      for (const n of [1, 2, 3]) await one.insertPush(aPush(n));
      await one.close();
      const connection = await connectNats(address, { name: "test" });
      const manager = await jetstreamManager(connection);
      const checkpoint = async (lastStoredAt: number, ...open: unknown[]): Promise<void> => {
        const text = JSON.stringify({ pushes: 3, receipts: 0, open, lastStoredAt });
        await jetstream(connection).publish("test.state.checkpoint", text);
      };
      const found = async (): Promise<string[] | undefined> => {
        const store = await open();
        const pushes = await store.openPushes({ account: "a", id: "dev_l" }, { afterSeq: 0, limit: 9 });
        await store.close();
        return idsOf(pushes);
      };
      const last = (await manager.streams.getMessage("test-push", { seq: 3 }))?.time.getTime() ?? 0;
      await checkpoint(last);
      assert.deepEqual(await found(), [], "the checkpoint of what is there is used");
      await checkpoint(last - 60_000);
      assert.deepEqual(await found(), [1, 2, 3].map(uuid));
      const left = await manager.streams.getMessage("test-state", { last_by_subj: "test.state.checkpoint" });
      assert.equal(left, null);
      await connection.close();
      await server.stop();
    },
  },
  {
    name:
      "three nodes on three servers that change the same thing at once do not undo each other's changes [nats-exact]",
    async run(_runtime, directory) {
      const servers = await startNatsCluster(directory);
      const address = { servers: servers.map(({ url }) => url), prefix: "test" };
      const stores = await Promise.all(
        servers.map(() => openNatsStore(address, { node: crypto.randomUUID() })),
      );
      const [one] = stores;
      await one?.insertKey(aKey(1));
      const ids = Array.from({ length: 60 }, (_, n) => n);
      const stored = await Promise.all(stores.map(async (store) => {
        for (const n of ids) await store.countHook({ account: "a", id: "hook" }, NOW + n);
        const outcomes = await Promise.all(ids.map((n) => store.insertPush(aPush(n))));
        return outcomes.filter(({ duplicate }) => !duplicate).length;
      }));
      assert.deepEqual((await one?.listHooks("a"))?.map(({ pushes }) => pushes), [3 * ids.length]);
      assert.equal(stored.reduce((sum, count) => sum + count), ids.length);
      for (const store of stores) await store.close();
      for (const server of servers) await server.stop("SIGKILL");
    },
  },
  {
    name: "a store opens once a late server makes the cluster large enough [nats-late]",
    async run(_runtime, directory) {
      const servers = await startNatsCluster(directory);
      const address = { servers: servers.map(({ url }) => url), prefix: "test" };
      const late = servers.at(-1);
      const refused = Promise.withResolvers<void>();
      // A server's answer is visible only to the clients of the server that was asked.
      const watchers = await Promise.all(
        servers.slice(0, -1).map(async ({ url }) => {
          const watcher = await connectNats({ ...address, servers: [url] }, { name: "watcher" });
          await until("the cluster's leader", () => jetstreamManager(watcher).then(() => true, () => false));
          watcher.subscribe("_INBOX.>", {
            callback: (_error, message) => {
              if (message.string().includes("no suitable peers for placement")) refused.resolve();
            },
          });
          return watcher;
        }),
      );
      await late?.stop();
      for (const watcher of watchers) await watcher.flush();
      const opening = openNatsStore(address);
      await Promise.race([refused.promise, opening]);
      await late?.restart();
      const store = await opening;
      await store.insertKey(aKey(1));
      for (const one of [store, ...watchers]) await one.close();
      for (const server of servers) await server.stop("SIGKILL");
    },
  },
  {
    name: "a store closes while NATS is frozen, before a client would notice that [rl-stop]",
    async run(_runtime, directory) {
      const server = await startNats(directory);
      const address = { servers: [server.url], prefix: "test" };
      const store = await openNatsStore(address, { node: crypto.randomUUID() });
      const client = await connectNats(address, { name: "test" });
      const noticing = (async () => {
        for await (const { type } of client.status()) if (type === "disconnect") return "noticed";
        return "closed";
      })();
      server.signal("SIGSTOP");
      assert.equal(await Promise.race([store.close().then(() => "ended"), noticing]), "ended");
      server.signal("SIGCONT");
      await client.close();
      await noticing;
      await server.stop();
    },
  },
  {
    name: "a missing server and a closed store are StoreUnavailable",
    async run(_runtime, directory) {
      const server = await startNats(directory);
      const address = { servers: [server.url], prefix: "test" };
      const store = await openNatsStore(address);
      await store.close();
      await assert.rejects(store.insertKey(aKey(1)), StoreUnavailable);
      await server.stop();
      await assert.rejects(openNatsStore(address), StoreUnavailable);
    },
  },
];
