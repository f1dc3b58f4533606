/** A host's clock that is set, or that continues while the host sleeps. */
import assert from "node:assert/strict";
import { CLOCK_JUMP_MS } from "../../../src/async/clock.ts";
import { RelayClock } from "../../../src/listener/host_at_relay.ts";

Deno.test("a jump of the host's clock is noticed once, and the next welcome gives the relay's time again [fault-clock]", () => {
  const time = { now: 1_000_000, elapsed: 0 };
  let jumps = 0;
  const clock = { now: () => time.now, elapsed: () => time.elapsed };
  const relay = new RelayClock({ clock, jumped: () => void jumps++ });
  assert.ok(!relay.isKnown);
  relay.connected(250);
  time.now += 60_000;
  time.elapsed += 60_000;
  relay.check();
  assert.deepEqual([jumps, relay.toLocalTime(2_000_250), relay.isKnown], [0, 2_000_000, true]);
  for (const jump of [2 * CLOCK_JUMP_MS, -3_600_000]) {
    jumps = 0;
    time.now += jump;
    relay.check();
    relay.check();
    assert.deepEqual([jumps, relay.isKnown], [1, false]);
  }
  relay.connected(-100);
  relay.check();
  assert.deepEqual([jumps, relay.toLocalTime(1_999_900), relay.isKnown], [1, 2_000_000, true]);
});
