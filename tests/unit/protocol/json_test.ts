/** JSON from a peer is parsed without throwing, with a depth limit. */
import assert from "node:assert/strict";
import fc from "fast-check";
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

Deno.test("a text is parsed exactly when its value is nested little enough, whatever its strings contain", () => {
  const value = fc.letrec((tie) => ({
    value: fc.oneof({ depthSize: "small" }, fc.string(), fc.array(tie("value")), tie("deep")),
    deep: fc.tuple(fc.nat(JSON_MAX_DEPTH + 2), fc.string({ unit: fc.constantFrom("\\", '"', "[", "}", "a") }))
      .map(
        ([levels, text]) => {
          let found: unknown = text;
          for (let level = 0; level < levels; level++) found = level % 2 === 0 ? [found] : { [text]: found };
          return found;
        },
      ),
  })).value;
  fc.assert(fc.property(value, (one) => {
    const expected = isNestedAtMost(one, JSON_MAX_DEPTH) ? { value: one } : undefined;
    assert.deepEqual(parseJson(JSON.stringify(one)), expected);
  }));
});

Deno.test("a text of only brackets is not parsed, which would take a tenth of a second for each frame [hostile-network]", () => {
  const { parse } = JSON;
  let parsed = 0;
  JSON.parse = (text) => {
    parsed++;
    return parse(text);
  };
  try {
    assert.equal(parseJson(`{"event":"hello","data":${nested(100_000)}}`), undefined);
    assert.equal(parsed, 0);
  } finally {
    JSON.parse = parse;
  }
});
