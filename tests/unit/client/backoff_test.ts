/** How long a client waits before it retries. */

import assert from "node:assert/strict";
import { attemptsAfter, backoffDelayMs } from "../../../src/client/relay_error.ts";

Deno.test("the longest delay doubles from a quarter of a second to thirty seconds [ws-backoff]", () => {
  const ceilings = [0, 1, 2, 3, 4, 5, 6, 7, 8, 400].map((attempt) => backoffDelayMs(attempt, 1));
  assert.deepEqual(ceilings, [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
});

Deno.test("a delay is between zero and the longest [ws-backoff]", () => {
  assert.equal(backoffDelayMs(3, 0), 0);
  assert.equal(backoffDelayMs(3, 0.5), 1_000);
  assert.ok(backoffDelayMs(3, 0.999_999) < 2_000);
});

Deno.test("a minute of calm resets the failed attempts, less does not [ws-backoff, style-backoff]", () => {
  assert.equal(attemptsAfter(7, 59_999), 7);
  assert.equal(attemptsAfter(7, 60_000), 0);
  assert.equal(attemptsAfter(7, 0), 7);
});
