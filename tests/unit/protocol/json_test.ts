/** JSON from a peer is parsed without throwing, with a depth limit. */
import assert from "node:assert/strict";
import { isNestedAtMost, parseJson } from "../../../src/protocol/json.ts";
import { JSON_MAX_DEPTH } from "../../../src/protocol/limits.ts";

const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);

Deno.test("invalid JSON gives undefined, and null is a value", () => {
  for (const text of ["", "{", "undefined", "'a'", "NaN", "\u0000"]) assert.equal(parseJson(text), undefined);
  assert.deepEqual(parseJson("null"), { value: null });
});

Deno.test("text nested too deeply is rejected at any depth", () => {
  assert.ok(parseJson(nested(JSON_MAX_DEPTH)));
  for (const levels of [JSON_MAX_DEPTH + 1, 100_000]) assert.equal(parseJson(nested(levels)), undefined);
});

Deno.test("scalars have depth 0, and each object or array adds one", () => {
  assert.ok(isNestedAtMost("text", 0));
  assert.ok(!isNestedAtMost({}, 0));
  assert.ok(isNestedAtMost({ a: [1], b: 2 }, 2));
  assert.ok(!isNestedAtMost({ a: [[1]], b: 2 }, 2));
});
