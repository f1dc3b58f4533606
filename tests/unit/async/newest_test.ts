/** A map that keeps its newest entries: which one is removed. */
import assert from "node:assert/strict";
import { setNewest } from "../../../src/async/newest.ts";

Deno.test("the entry that was set longest ago is removed; setting one again makes it the newest", () => {
  const map = new Map<string, number>();
  for (const [at, key] of ["a", "b", "a", "c"].entries()) setNewest(map, [key, at], { max: 2 });
  assert.deepEqual([...map], [["a", 2], ["c", 3]]);
});
