/** The store's contract over SQLite, and cases that need a file on disk. */
import assert from "node:assert/strict";
import { openDatabase } from "../../src/runtime/sqlite.ts";
import { backupStore, openStore } from "../../src/store/sqlite.ts";
import { StoreUnavailable } from "../../src/store/store.ts";
import type { Case } from "../helpers/on_node.ts";
import { storeCases } from "./store_contract.ts";
import { aKey, aPush, NOW, pageOf } from "./store_samples.ts";

const file = (directory: string): string => `${directory}/data/relay.db`;
const open = (directory: string) => openStore(`${directory}/data`, { busyMs: 10 });

const SQLITE_CASES: readonly Case[] = [
  {
    name:
      "the folder is 0700 and its files 0600, also when they were looser [sec-other-account, rl-one-folder]",
    async run({ files }, directory) {
      await files.makeDirectory(`${directory}/data`, { mode: 0o755 });
      const store = await open(directory);
      await store.insertKey(aKey(1));
      const names = await files.list(`${directory}/data`);
      assert.deepEqual(names.sort(), ["relay.db", "relay.db-shm", "relay.db-wal", "relay.lock"]);
      for (const name of names) {
        assert.equal((await files.info(`${directory}/data/${name}`))?.mode, 0o600, name);
      }
      assert.equal((await files.info(`${directory}/data`))?.mode, 0o700);
      await store.close();
    },
  },
  {
    name:
      "a lock held by another process is StoreUnavailable, and nothing is stored [http-503, http-2xx-stored]",
    async run(_runtime, directory) {
      const store = await open(directory);
      await store.insertKey(aKey(1));
      const other = await openDatabase(file(directory), { busyMs: 0 });
      other.exec("BEGIN IMMEDIATE");
      await assert.rejects(
        Promise.all([store.insertPush(aPush(1)), store.insertPush(aPush(2))]),
        StoreUnavailable,
      );
      await assert.rejects(store.ready(), StoreUnavailable);
      other.exec("ROLLBACK");
      other.close();
      assert.deepEqual(await pageOf(store, { account: "a", limit: 9 }), []);
      assert.equal((await store.insertPush(aPush(1))).duplicate, false);
      await store.close();
    },
  },
  {
    name: "others use the store while many old pushes are removed, and a stop ends the removal [rl-sweep]",
    async run({ files }, directory) {
      const store = await open(directory);
      await store.insertKey(aKey(1));
      const count = 1_500;
      const old = (n: number) => ({ ...aPush(n), push: { ...aPush(n).push, createdAt: NOW - 100 } });
      await Promise.all(Array.from({ length: count }, (_, n) => store.insertPush(old(n + 1))));
      const stopped = new AbortController();
      const bounds = { madeBefore: NOW - 50, expiredBefore: 0 };
      let isSwept = false;
      const sweeping = store.removePushes({ ...bounds, signal: stopped.signal })
        .finally(() => isSwept = true);
      await files.info(file(directory));
      await store.insertPush(aPush(count + 1));
      assert.equal(isSwept, false);
      stopped.abort();
      const removed = await sweeping;
      assert.ok(removed < count, String(removed));
      assert.equal(removed + await store.removePushes(bounds), count);
      await store.close();
    },
  },
  {
    name: "a closed store rejects with StoreUnavailable",
    async run(_runtime, directory) {
      const store = await open(directory);
      await store.close();
      await assert.rejects(store.insertKey(aKey(1)), StoreUnavailable);
      await assert.rejects(store.listKeys(), StoreUnavailable);
    },
  },
  {
    name: "a second relay on the same store is refused; other programs and a later relay are not",
    async run(_runtime, directory) {
      const relay = await openStore(directory, { only: "relay" });
      const second = openStore(directory, { only: "relay" });
      await assert.rejects(
        second,
        (error: Error) => error instanceof StoreUnavailable && /another relay/.test(error.message),
      );
      const tool = await openStore(directory);
      await tool.insertKey(aKey(1));
      await tool.close();
      await relay.close();
      await (await openStore(directory, { only: "relay" })).close();
    },
  },
  {
    name: "a backup taken during writes opens and is complete [rl-backup]",
    async run({ files }, directory) {
      const store = await open(directory);
      await store.insertKey(aKey(1));
      await Promise.all(Array.from({ length: 200 }, (_, n) => store.insertPush(aPush(n))));
      const writes = Promise.all(Array.from({ length: 200 }, (_, n) => store.insertPush(aPush(1000 + n))));
      await files.makeDirectory(`${directory}/copy`);
      await backupStore(`${directory}/data`, `${directory}/copy/relay.db`);
      await writes;
      await store.backup(`${directory}/again.db`);
      await store.close();
      assert.equal((await files.info(`${directory}/copy/relay.db`))?.mode, 0o600);
      assert.deepEqual(await files.list(`${directory}/copy`), ["relay.db"]);
      const copy = await openStore(`${directory}/copy`);
      const pushes = await pageOf(copy, { account: "a", limit: 1000 });
      assert.ok((pushes?.length ?? 0) >= 200);
      assert.equal((await copy.listKeys()).length, 1);
      await copy.close();
    },
  },
  {
    name: "a backup of a missing store is refused",
    async run(_runtime, directory) {
      await assert.rejects(backupStore(`${directory}/none`, `${directory}/copy.db`), StoreUnavailable);
    },
  },
  {
    name: "a file that is not a database is StoreUnavailable and names the folder",
    async run({ files }, directory) {
      await files.makeDirectory(`${directory}/data`);
      await files.writeText(file(directory), "junk ".repeat(1000));
      await assert.rejects(open(directory), StoreUnavailable);
    },
  },
];

export const cases: readonly Case[] = [
  ...storeCases((_runtime, directory) => open(directory)),
  ...SQLITE_CASES,
];
