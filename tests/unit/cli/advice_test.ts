/** Advice for errors: guesses for misspelled words. */
import assert from "node:assert/strict";
import { editDistance, nearest } from "../../../src/cli/advice.ts";

Deno.test("the distance counts inserted, deleted and replaced letters", () => {
  assert.equal(editDistance("kitten", "sitting"), 3);
  assert.equal(editDistance("", "abc"), 3);
  assert.equal(editDistance("same", "same"), 0);
});

Deno.test("a typo is recognized, another word is not", () => {
  const words = ["cc", "listener", "status", "send", "sessions"];
  assert.equal(nearest("lsitener", words), "listener");
  assert.equal(nearest("statsu", words), "status");
  assert.equal(nearest("sesions", words), "sessions");
  assert.equal(nearest("deploy", words), undefined);
  assert.equal(nearest("xy", words), undefined);
});
