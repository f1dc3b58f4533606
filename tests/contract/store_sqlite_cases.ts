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
      "the folder is 0700 and its files 0600, even if they were looser before [sec-other-account, rl-one-folder]",
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
      "a folder of other files keeps its mode, and is refused if other accounts may write there [rl-one-folder]",
    async run({ files }, directory) {
      await files.makeDirectory(`${directory}/data`, { mode: 0o755 });
      await files.writeText(`${directory}/data/run.sh`, "", { mode: 0o755 });
      await (await open(directory)).close();
      assert.equal((await files.info(`${directory}/data`))?.mode, 0o755);
      assert.equal((await files.info(file(directory)))?.mode, 0o600);
      const refusal = /it has other files, and other accounts may write there\. Name a folder of its own/;
      await files.chmod(`${directory}/data`, 0o777);
      await assert.rejects(open(directory), refusal, "also with a store in it");
      await files.makeDirectory(`${directory}/other`, { mode: 0o700 });
      await files.writeText(`${directory}/other/run.sh`, "", { mode: 0o755 });
      await files.chmod(`${directory}/other`, 0o777);
      await assert.rejects(openStore(`${directory}/other`), refusal);
      assert.deepEqual(await files.list(`${directory}/other`), ["run.sh"]);
      assert.equal((await files.info(`${directory}/other`))?.mode, 0o777);
    },
  },
  {
    name:
      "a store whose file was removed or replaced takes nothing more: it would be lost [http-503, http-2xx-stored, http-health]",
    async run({ files }, directory) {
      for (const isReplaced of [false, true]) {
        const store = await open(directory);
        await store.insertKey(aKey(1));
        await store.insertPush(aPush(1));
        const names = ["", "-wal", "-shm"].map((suffix) => `${file(directory)}${suffix}`);
        for (const name of names) await files.remove(name);
        if (isReplaced) await files.writeText(file(directory), "", { mode: 0o600 });
        const refusal = /relay\.db was removed or replaced.*svc server backup/;
        await assert.rejects(store.insertPush(aPush(2)), refusal);
        await assert.rejects(store.ready(), refusal);
        await store.close();
        for (const name of names) await files.remove(name);
      }
    },
  },
  {
    name:
      "a lock held by another process is StoreUnavailable, and nothing is stored [http-503, http-2xx-stored, http-health]",
    async run(_runtime, directory) {
      const store = await open(directory);
      await store.insertKey(aKey(1));
      await store.ready();
      const other = await openDatabase(file(directory), { busyMs: 0 });
      other.exec("BEGIN IMMEDIATE");
      await assert.rejects(
        Promise.all([store.insertPush(aPush(1)), store.insertPush(aPush(2))]),
        StoreUnavailable,
      );
      await assert.rejects(store.ready(), StoreUnavailable);
      other.exec("ROLLBACK");
      other.close();
      await Promise.all([store.ready(), store.ready()]);
      await store.ready();
      assert.deepEqual(await pageOf(store, { account: "a", limit: 9 }), []);
      assert.equal((await store.insertPush(aPush(1))).duplicate, false);
      await store.close();
    },
  },
  {
    name:
      "the store remains usable while many old pushes are removed, and a stop ends the removal [rl-sweep]",
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
    name:
      "a backup follows no link and writes to no file that others put next to it first [rl-backup, sec-other-account]",
    async run({ files, commands }, directory) {
      await (await open(directory)).close();
      const [copy, own, theirs] = ["copy.db", "own.txt", "theirs.txt"].map((name) => `${directory}/${name}`);
      assert.ok(copy && own && theirs);
      for (const path of [own, theirs]) await files.writeText(path, "as it was");
      // A link to one of our files, and a file that another program has open.
      for (const [target, ...flags] of [[own, "-s"], [theirs]] as const) {
        await commands.run(["ln", ...flags, target, `${copy}.part`]);
        await backupStore(`${directory}/data`, copy);
        assert.equal(await files.readText(target), "as it was");
        assert.equal((await files.info(copy))?.mode, 0o600);
        assert.equal(await files.realPath(copy), copy);
        await files.remove(copy);
      }
    },
  },
  {
    name: "a backup of a missing store is refused",
    async run(_runtime, directory) {
      await assert.rejects(backupStore(`${directory}/none`, `${directory}/copy.db`), StoreUnavailable);
    },
  },
  {
    name:
      "a backup onto the store itself is refused, and one that cannot be written leaves nothing [rl-backup]",
    async run({ files, commands }, directory) {
      const store = await open(directory);
      await store.insertKey(aKey(1));
      const link = `${directory}/link.db`;
      await commands.run(["ln", "-s", file(directory), link]);
      for (const own of [file(directory), `${file(directory)}-wal`, `${file(directory)}-shm`, link]) {
        const refused = {
          message: `Cannot back up to "${own}": that is the store itself. Name another file.`,
        };
        await assert.rejects(backupStore(`${directory}/data`, own), refused);
        await assert.rejects(store.backup(own), refused);
      }
      await store.insertKey(aKey(2));
      await store.close();
      const again = await open(directory);
      assert.equal((await again.listKeys()).length, 2);
      await again.close();
      await assert.rejects(backupStore(`${directory}/data`, `${file(directory)}-wal`), /the store itself/);
      await files.makeDirectory(`${directory}/folder`);
      await files.makeDirectory(`${directory}/taken.part`);
      await commands.run(["mkfifo", `${directory}/fifo`]);
      const impossible: [string, RegExp][] = [
        [`${directory}/folder`, /folder": that is a folder\. Name a file in it\.$/],
        [`${directory}/fifo`, /fifo": that is not a plain file\. Name another file\.$/],
        [`${directory}/none/x.db`, /x\.db": there is no folder ".*none"\. Create it/],
        [`${directory}/taken`, /taken": .* Name a file in a folder of yours\.$/],
        [`${directory}/${"x".repeat(300)}`, /x": .* Name a file in a folder of yours\.$/],
      ];
      for (const [target, message] of impossible) {
        await assert.rejects(backupStore(`${directory}/data`, target), { message });
      }
      assert.deepEqual(await files.list(directory), ["data", "fifo", "folder", "link.db", "taken.part"]);
      assert.deepEqual(await files.list(`${directory}/data`), ["relay.db", "relay.lock"]);
    },
  },
  {
    name: "what a killed relay's check for room left in the store is gone after the next start [http-health]",
    async run(_runtime, directory) {
      await (await open(directory)).close();
      const killed = await openDatabase(file(directory), { busyMs: 0 });
      killed.exec("CREATE TABLE write_check (bytes BLOB NOT NULL) STRICT");
      const tables = killed.prepare("SELECT name FROM sqlite_schema WHERE name = 'write_check'");
      await (await open(directory)).close();
      assert.equal(tables.all().length, 1, "a command beside a running relay leaves the table to it");
      await (await openStore(`${directory}/data`, { only: "relay" })).close();
      assert.equal(tables.all().length, 0);
      killed.close();
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
