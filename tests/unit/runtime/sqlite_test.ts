/** How values are bound to statements on every supported Node. */
import assert from "node:assert/strict";
import { openDatabase, plainParameters } from "../../../src/runtime/sqlite.ts";

Deno.test("numbered parameters get their values in any order, more than once, and next to plain ones [run-node-old]", async () => {
  assert.deepEqual(plainParameters("SELECT ?2, ?1, ?2"), { plain: "SELECT ?, ?, ?", order: [2, 1, 2] });
  assert.deepEqual(plainParameters("VALUES (?, ?, ?)").order, [1, 2, 3]);
  const database = await openDatabase(":memory:", { busyMs: 0 });
  for (const sql of ["SELECT ?2 AS a, ? AS b, ?1 AS c", "SELECT ?3 AS c, ?2 AS a, ?1 AS b"]) {
    const asSqliteDoes = Object.values(database.prepare(sql).get("x", "y", "z") ?? {});
    assert.deepEqual(asSqliteDoes, sql.includes(" ? ") ? ["y", "z", "x"] : ["z", "y", "x"]);
  }
  database.close();
});
