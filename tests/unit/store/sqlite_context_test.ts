/** Writes of one turn are committed together, and a failing one fails alone. */
import assert from "node:assert/strict";
import { type Database, openDatabase } from "../../../src/runtime/sqlite.ts";
import { StoreUnavailable } from "../../../src/store/store.ts";
import { storeError, WriteBatch, WRITES_WAITING_MAX } from "../../../src/store/sqlite_context.ts";

/** Makes a batch that flushes on demand, over a database that records its statements. */
async function makeBatch(fail: (sql: string) => string | undefined = () => undefined) {
  const database = await openDatabase(":memory:", { busyMs: 0 });
  const statements: string[] = [];
  const recording: Database = {
    ...database,
    exec(sql) {
      statements.push(sql);
      const message = fail(sql);
      if (message !== undefined) throw new Error(message);
      database.exec(sql);
    },
  };
  let flush = (): void => undefined;
  const batch = new WriteBatch(recording, { schedule: (run) => flush = run });
  return { batch, statements, flush: () => flush(), close: () => database.close() };
}

Deno.test("writes of one turn share a transaction", async () => {
  const { batch, statements, flush, close } = await makeBatch();
  const results = Promise.all([
    batch.run(() => 1, "synced"),
    batch.run(() => 2, "synced"),
    batch.run(() => 3, "synced"),
  ]);
  assert.deepEqual(statements, []);
  flush();
  assert.deepEqual(await results, [1, 2, 3]);
  assert.deepEqual(statements, ["PRAGMA synchronous = FULL", "BEGIN IMMEDIATE", "COMMIT"]);
  close();
});

Deno.test("the disk is synced only when one of the writes must survive a power cut [http-202]", async () => {
  const { batch, statements, flush, close } = await makeBatch();
  const modes = (): string[] =>
    statements.filter((sql) => sql.startsWith("PRAGMA")).map((sql) => sql.slice(-6).trim());
  for (const kinds of [["written"], ["written", "synced"], ["synced"], ["written", "written"]] as const) {
    const writes = kinds.map((durability) => batch.run(() => durability, durability));
    flush();
    await Promise.all(writes);
  }
  assert.deepEqual(modes(), ["NORMAL", "= FULL", "NORMAL"]);
  close();
});

Deno.test("a failing write fails alone: the others commit in their own transactions", async () => {
  const { batch, flush, close } = await makeBatch();
  const wrong = batch.run(() => {
    throw new TypeError("wrong");
  }, "synced");
  const right = batch.run(() => "right", "synced");
  flush();
  await assert.rejects(wrong, TypeError);
  assert.equal(await right, "right");
  close();
});

for (const where of ["BEGIN IMMEDIATE", "COMMIT"]) {
  Deno.test(`a full disk at ${where} fails every write, and later writes are tried again`, async () => {
    let full = true;
    const fail = (sql: string): string | undefined =>
      full && sql === where ? "database or disk is full" : undefined;
    const { batch, statements, flush, close } = await makeBatch(fail);
    const writes = [batch.run(() => 1, "synced"), batch.run(() => 2, "synced")];
    flush();
    for (const write of writes) await assert.rejects(write, StoreUnavailable);
    assert.equal(statements.filter((sql) => sql === "BEGIN IMMEDIATE").length, 1);
    full = false;
    const later = batch.run(() => "kept", "synced");
    flush();
    assert.equal(await later, "kept");
    close();
  });
}

Deno.test("the queue is bounded", async () => {
  const { batch, flush, close } = await makeBatch();
  const writes = Array.from({ length: WRITES_WAITING_MAX }, () => batch.run(() => undefined, "synced"));
  await assert.rejects(batch.run(() => undefined, "synced"), StoreUnavailable);
  flush();
  await Promise.all(writes);
  close();
});

Deno.test("an I/O error says that the disk may be full [http-503]", () => {
  const error = storeError(new Error("disk I/O error"));
  assert.ok(error instanceof StoreUnavailable);
  assert.match(error.message, /the disk may be full/);
});
