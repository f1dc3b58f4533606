/** Spans of time in words. */

import assert from "node:assert/strict";
import { ageWords, agoWords, momentWords } from "../../../src/phone/ages.ts";

const MINUTE = 60_000;

Deno.test("spans are told in the unit that fits", () => {
  const told = [-5, 59_999, MINUTE, 59 * MINUTE, 60 * MINUTE, 47 * 60 * MINUTE, 49 * 60 * MINUTE].map(
    ageWords,
  );
  assert.deepEqual(told, ["just now", "just now", "1 min", "59 min", "1 h", "1 day", "2 days"]);
  assert.deepEqual([agoWords(3), agoWords(5 * MINUTE)], ["just now", "5 min ago"]);
});

Deno.test("a moment of another day has its date", () => {
  const noon = new Date(2026, 10, 20, 12).getTime();
  assert.match(momentWords(noon - MINUTE, noon), /^\D?11.59/);
  assert.match(momentWords(noon - 24 * 60 * MINUTE, noon), /19.*12.00/);
});
