/** Writes that come together are committed together, and a wrong one fails alone. */
import assert from "node:assert/strict";
import { type Database, openDatabase } from "../../../src/runtime/sqlite.ts";
import { StoreUnavailable } from "../../../src/store/store.ts";
import { WriteBatch, WRITES_WAITING_MAX } from "../../../src/store/write_batch.ts";

/** A batch that flushes when it is told to, over a database that tells its statements. */
async function makeBatch(fail: (sql: string) => string | undefined = () => undefined) {
  const database = await openDatabase(":memory:", { busyMs: 0 });
  const statements: string[] = [];
  const told: Database = {
    ...database,
    exec(sql) {
      statements.push(sql);
      const message = fail(sql);
      if (message !== undefined) throw new Error(message);
      database.exec(sql);
    },
  };
  let flush = (): void => undefined;
  const batch = new WriteBatch(told, { schedule: (run) => flush = run });
  return { batch, statements, flush: () => flush(), close: () => database.close() };
}

Deno.test("one transaction serves all that came together", async () => {
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

Deno.test("the disk is waited for when one of the writes must outlive a power cut, and only then [http-202]", async () => {
  const { batch, statements, flush, close } = await makeBatch();
  const modes = (): string[] =>
    statements.filter((sql) => sql.startsWith("PRAGMA")).map((sql) => sql.slice(-6).trim());
  for (const kinds of [["written"], ["written", "synced"], ["synced"], ["written", "written"]] as const) {
    const writes = kinds.map((lasting) => batch.run(() => lasting, lasting));
    flush();
    await Promise.all(writes);
  }
  assert.deepEqual(modes(), ["NORMAL", "= FULL", "NORMAL"]);
  close();
});

Deno.test("a wrong write fails alone: the others are done in transactions of their own", async () => {
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
  Deno.test(`a full disk at ${where} fails every write, and the next ones are tried anew`, async () => {
    let full = true;
    const told = (sql: string): string | undefined =>
      full && sql === where ? "database or disk is full" : undefined;
    const { batch, statements, flush, close } = await makeBatch(told);
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
