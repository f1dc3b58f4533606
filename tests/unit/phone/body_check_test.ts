/** What can be sent is judged before it leaves the phone, by the wire's own rule. */

import assert from "node:assert/strict";
import { checkBody } from "../../../src/phone/body_check.ts";

Deno.test("a text can be sent when the relay would take it", () => {
  for (const text of ["hello", "two\nlines", "\ttab", "👨‍👩‍👧", "a".repeat(16_384)]) {
    assert.equal(checkBody(text).sendable, true);
  }
  for (const text of ["", " \n ", "\u001b[A", "a".repeat(16_385), "\ud800"]) {
    assert.equal(checkBody(text).sendable, false);
  }
});

Deno.test("length counts in bytes, after line ends are made plain, and shows when it matters", () => {
  assert.equal(checkBody("é\r\n").bytes, 3);
  assert.equal(checkBody("a".repeat(100)).showSize, false);
  assert.equal(checkBody("é".repeat(7_000)).showSize, true);
  assert.equal(checkBody("é".repeat(8_193)).fault, "too_long");
  assert.equal(checkBody("\u0007").fault, "controls");
});
