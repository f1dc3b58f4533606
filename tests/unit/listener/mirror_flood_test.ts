/** What counts as a flood of output. */
import assert from "node:assert/strict";
import {
  FLOOD_BYTES,
  FLOOD_WINDOW_MS,
  FloodGauge,
  FLOODING_BYTES,
} from "../../../src/listener/mirror_flood.ts";

Deno.test("flood: much at once is one, the same over a longer time is none", () => {
  const gauge = new FloodGauge();
  assert.equal(gauge.isFlood(FLOOD_BYTES - 1, 0), false);
  assert.equal(gauge.isFlood(1, FLOOD_WINDOW_MS - 1), true);
  const slow = new FloodGauge();
  for (let now = 0; now < 1_000; now += FLOOD_WINDOW_MS) {
    assert.equal(slow.isFlood(FLOOD_BYTES - 1, now), false);
  }
});

Deno.test("flood: after a rest less is enough, until one window was calm", () => {
  const gauge = new FloodGauge();
  gauge.rested(0);
  assert.equal(gauge.isFlood(FLOODING_BYTES, 1), true);
  gauge.rested(100);
  assert.equal(gauge.isFlood(FLOODING_BYTES - 1, 101), false);
  assert.equal(gauge.isFlood(FLOODING_BYTES, 101 + FLOOD_WINDOW_MS), false, "calm before: the usual measure");
});
