/** The place at which a text stops being JSON. */
import assert from "node:assert/strict";
import { jsonFault } from "../../../src/home/json_fault.ts";

const cases: [text: string, line: number, column: number][] = [
  ["", 1, 1],
  ["{", 1, 2],
  ['{"a": 1', 1, 8],
  ['{\n  "a": 1,\n}', 3, 1],
  ['{\n  "a": tru,\n  "b": 1\n}', 2, 11],
  ['{"a": x}', 1, 7],
  ['{"a": 1} trailing', 1, 10],
  ['{\n\n"a" 1}', 3, 5],
  ['{"a": "\t"}', 1, 8],
];

for (const [text, line, column] of cases) {
  Deno.test(`${JSON.stringify(text)} is wrong at ${line}:${column}`, () => {
    assert.deepEqual(jsonFault(text), { line, column });
  });
}

Deno.test("sound JSON has no fault", () => {
  assert.equal(jsonFault('{"a": [1, true, null, "x"]}'), undefined);
});
