/** Durations, times and numbers as text. */

import assert from "node:assert/strict";
import { setStrings, STRINGS } from "../../../src/phone/strings.ts";
import { GERMAN } from "../../../src/phone/strings_de.ts";
import {
  formatAge,
  formatAgo,
  formatNumber,
  formatTime,
  formatWait,
} from "../../../src/phone/format_time.ts";

const MINUTE = 60_000;

Deno.test("a duration is given in a suitable unit", () => {
  const told = [-5, 59_999, MINUTE, 59 * MINUTE, 60 * MINUTE, 47 * 60 * MINUTE, 49 * 60 * MINUTE].map(
    formatAge,
  );
  assert.deepEqual(told, ["just now", "just now", "1 min", "59 min", "1 h", "1 day", "2 days"]);
  assert.deepEqual([formatAgo(3), formatAgo(5 * MINUTE)], ["just now", "5 min ago"]);
});

Deno.test("the remaining wait is given in seconds only if there are few", () => {
  const left = [1, 6_000, 2 * MINUTE - 1, 2 * MINUTE, 59 * MINUTE + 1, 61 * MINUTE].map(formatWait);
  assert.deepEqual(left, ["1 s", "6 s", "120 s", "2 min", "1 h", "1 h"]);
});

Deno.test("a time on another day has its date", () => {
  const noon = new Date(2026, 10, 20, 12).getTime();
  assert.match(formatTime(noon - MINUTE, noon), /^\D?11.59/);
  assert.match(formatTime(noon - 24 * 60 * MINUTE, noon), /19.*12.00/);
});

Deno.test("a time is written as in the page's language, whatever the browser's is", () => {
  const afternoon = new Date(2026, 10, 20, 15, 5).getTime();
  const english = STRINGS;
  try {
    setStrings(GERMAN);
    assert.equal(formatTime(afternoon, afternoon), "15:05");
  } finally {
    setStrings(english);
  }
});

Deno.test("a number is written as in the page's language, whatever the browser's is [ux-languages]", () => {
  const english = STRINGS;
  try {
    assert.match(formatNumber(16_384), /^16,?384$/);
    setStrings(GERMAN);
    assert.deepEqual([formatNumber(16_384), formatNumber(1.5)], ["16.384", "1,5"]);
    const { audit } = GERMAN;
    assert.deepEqual([audit?.characters(16_384), audit?.bytes(1_000)], ["16.384 Zeichen", "1.000 Byte"]);
  } finally {
    setStrings(english);
  }
});

Deno.test("a number that no calendar has is not a time, and breaks nothing", () => {
  for (const number of [NaN, Number.MAX_SAFE_INTEGER, -1e300]) assert.equal(formatTime(number, 0), "-");
});
