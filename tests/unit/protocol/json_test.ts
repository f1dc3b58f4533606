/** JSON from a peer is parsed without throwing and is bounded in depth. */
import assert from "node:assert/strict";
import { isNestedAtMost, parseJson } from "../../../src/protocol/json.ts";
import { JSON_MAX_DEPTH } from "../../../src/protocol/limits.ts";

const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);

Deno.test("what is not JSON gives undefined, and null is a value", () => {
  for (const text of ["", "{", "undefined", "'a'", "NaN", "\u0000"]) assert.equal(parseJson(text), undefined);
  assert.deepEqual(parseJson("null"), { value: null });
});

Deno.test("text nested too deep is not taken, however deep", () => {
  assert.ok(parseJson(nested(JSON_MAX_DEPTH)));
  for (const levels of [JSON_MAX_DEPTH + 1, 100_000]) assert.equal(parseJson(nested(levels)), undefined);
});

Deno.test("plain values have no level, objects and arrays one each", () => {
  assert.ok(isNestedAtMost("text", 0));
  assert.ok(!isNestedAtMost({}, 0));
  assert.ok(isNestedAtMost({ a: [1], b: 2 }, 2));
  assert.ok(!isNestedAtMost({ a: [[1]], b: 2 }, 2));
});
