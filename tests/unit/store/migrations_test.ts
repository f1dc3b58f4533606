/** Old databases are upgraded with their content; newer ones are left alone. */
import assert from "node:assert/strict";
import { openDatabase } from "../../../src/runtime/sqlite.ts";
import { MIGRATIONS } from "../../../src/store/migrations.ts";
import { openStore } from "../../../src/store/sqlite.ts";
import { OPEN_CANCELS } from "../../../src/store/sqlite_pushes.ts";
import { StoreUnavailable } from "../../../src/store/store.ts";

const SAMPLES = new URL("../../testdata/store/", import.meta.url);

async function withDatabase(sql: string, body: (dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = await Deno.makeTempDir({ prefix: "svc-store-" });
  try {
    const database = await openDatabase(`${dataDir}/relay.db`, { busyMs: 0 });
    database.exec(sql);
    database.close();
    await body(dataDir);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
}

async function versionsIn(dataDir: string): Promise<number[]> {
  const database = await openDatabase(`${dataDir}/relay.db`, { busyMs: 0 });
  const rows = database.prepare("SELECT version FROM schema_version ORDER BY version").all();
  database.close();
  return rows.map(({ version }) => Number(version));
}

const newest = Array.from(MIGRATIONS, (_, index) => index + 1);

Deno.test("a new database records the number of every step [run-sqlite]", async () => {
  await withDatabase("", async (dataDir) => {
    await (await openStore(dataDir)).close();
    assert.deepEqual(await versionsIn(dataDir), newest);
  });
});

Deno.test("a listener's open cancellations are found by a separate index, however many pushes wait for it", async () => {
  await withDatabase("", async (dataDir) => {
    await (await openStore(dataDir)).close();
    const database = await openDatabase(`${dataDir}/relay.db`, { busyMs: 0 });
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${OPEN_CANCELS}`).all(
      "default",
      "dev_listener_x",
      0,
      9,
    );
    database.close();
    const steps = plan.map(({ detail }) => String(detail));
    assert.equal(steps.length, 1);
    assert.match(steps[0] ?? "", /^SEARCH pushes USING INDEX open_cancels/);
  });
});

Deno.test("there is a sample database of every older version", async () => {
  const names: string[] = [];
  for await (const { name } of Deno.readDir(SAMPLES)) names.push(name);
  assert.deepEqual(names.sort(), newest.slice(0, -1).map((version) => `v${version}.sql`));
});

for (const version of newest.slice(0, -1)) {
  Deno.test(`a database of version ${version} is upgraded with all its content [run-migrations]`, async () => {
    const sql = await Deno.readTextFile(new URL(`v${version}.sql`, SAMPLES));
    await withDatabase(sql, async (dataDir) => {
      const store = await openStore(dataDir);
      const device = { account: "default", id: "dev_listener_0a1b2c3d" };
      assert.equal((await store.findKey(new Uint8Array(32)))?.name, "phone");
      assert.equal((await store.findDevice(device))?.version, "0.1.0");
      const [open] = await store.openPushes(device, { afterSeq: 0, limit: 9 });
      assert.deepEqual([open?.push.body, open?.receipt.state], ["hello", "held"]);
      assert.deepEqual(await store.devicesWithSession("default", "svc-proj"), [device.id]);
      const pairing = await store.takePairing(new Uint8Array(32), 1_790_000_000_000);
      assert.equal(pairing?.account, version >= 2 ? "default" : undefined);
      await store.removePairings({ openBefore: 0, takenBefore: 0 });
      await store.close();
      assert.deepEqual(await versionsIn(dataDir), newest);
    });
  });
}

Deno.test("keys of version 4 still work: bound ones own their device, revoking a phone revokes its clone, hooks stay [run-migrations, role-upgrade]", async () => {
  const sql = await Deno.readTextFile(new URL("v4.sql", SAMPLES));
  await withDatabase(sql, async (dataDir) => {
    const store = await openStore(dataDir);
    const keys = await store.listKeys("default");
    assert.deepEqual(
      keys.filter(({ revokedAt }) => revokedAt === undefined).map((
        { id, role, parent },
      ) => [id, role, parent]),
      [
        ["key_bound", "listener", undefined],
        ["key_clone", "phone", "key_phone"],
        ["key_old", undefined, undefined],
        ["key_phone", "phone", "key_up"],
        ["key_up", undefined, undefined],
      ],
    );
    const owner = (id: string): Promise<string | undefined> => store.deviceOwner({ account: "default", id });
    assert.deepEqual(
      [
        await owner("dev_phone_1"),
        await owner("dev_listener_11111111"),
        await owner("dev_listener_0a1b2c3d"),
      ],
      ["key_phone", "key_bound", undefined],
    );
    const listener = await store.findDevice({ account: "default", id: "dev_listener_0a1b2c3d" });
    assert.ok(listener);
    const most = { ofKey: 9, ofAccount: 9 };
    assert.equal(await store.claimDevice(listener, { keyId: "key_up", most }), "claimed");
    assert.equal(await store.claimDevice(listener, { keyId: "key_old", most }), "taken");
    const ended = await store.revokeDevice({ account: "default", id: "dev_phone_1" }, 1);
    assert.deepEqual(ended?.keys, ["key_phone", "key_clone"]);
    const revoked = (await store.listKeys()).filter(({ revokedAt }) => revokedAt === 1).map(({ id }) => id);
    assert.deepEqual(revoked, ["key_clone", "key_phone"]);
    assert.deepEqual((await store.listHooks("default")).map(({ state }) => state), ["muted"]);
    await store.close();
  });
});

Deno.test("a newer database is refused and left unchanged", async () => {
  const sql =
    "CREATE TABLE schema_version (version INTEGER); INSERT INTO schema_version VALUES (99); CREATE TABLE x (y)";
  await withDatabase(sql, async (dataDir) => {
    const refused = (error: Error): boolean =>
      error instanceof StoreUnavailable && /version 99/.test(error.message);
    await assert.rejects(openStore(dataDir), refused);
    assert.deepEqual(await versionsIn(dataDir), [99]);
  });
});

Deno.test("a failing step leaves the old version", async () => {
  await withDatabase("CREATE TABLE pairings (x)", async (dataDir) => {
    await assert.rejects(openStore(dataDir), /pairings already exists/);
    const database = await openDatabase(`${dataDir}/relay.db`, { busyMs: 0 });
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    database.close();
    assert.deepEqual(tables.map(({ name }) => name), ["pairings"]);
  });
});
