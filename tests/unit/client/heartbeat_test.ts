/** When a connection is pinged, reported silent and reported dead. */

import assert from "node:assert/strict";
import { CALM_RHYTHM, Heartbeat, type Rhythm, WATCHED_RHYTHM } from "../../../src/client/relay_link.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";

function beating(rhythm: Rhythm) {
  const clock = new FakeClock();
  const log: string[] = [];
  const heartbeat = new Heartbeat(rhythm, {
    clock,
    ping: () => log.push(`ping ${clock.elapsed()}`),
    onAnswering: (answering) => log.push(`${answering ? "answers" : "quiet"} ${clock.elapsed()}`),
    onDead: () => log.push(`dead ${clock.elapsed()}`),
  });
  return { clock, log, heartbeat };
}

Deno.test("it pings every 20 s and gives up after 40 s of silence [ws-ping]", () => {
  const { clock, log } = beating(CALM_RHYTHM);
  clock.advance(300_000);
  assert.deepEqual(log, ["ping 20000", "dead 40000"]);
  assert.equal(clock.pending, 0);
});

Deno.test("anything received keeps the link alive, and pings continue [ws-ping]", () => {
  const { clock, log, heartbeat } = beating(CALM_RHYTHM);
  for (let second = 0; second < 100; second++) {
    clock.advance(1_000);
    heartbeat.heard();
  }
  assert.deepEqual(log, ["ping 20000", "ping 40000", "ping 60000", "ping 80000", "ping 100000"]);
  heartbeat.stop();
  assert.equal(clock.pending, 0);
});

Deno.test("a watched link is reported silent within 2 s and kept open for a slow answer", () => {
  const { clock, log, heartbeat } = beating(WATCHED_RHYTHM);
  clock.advance(2_000);
  assert.deepEqual(log, ["ping 750", "ping 1500", "quiet 1600"]);
  clock.advance(1_000);
  heartbeat.heard();
  assert.deepEqual(log.slice(3), ["ping 2250", "ping 3000", "answers 3000"]);
  clock.advance(60_000);
  assert.equal(log.at(-1), "dead 8000");
});

Deno.test("when the user looks again it pings at once, and measures silence from then", () => {
  const { clock, log, heartbeat } = beating(CALM_RHYTHM);
  clock.advance(15_000);
  heartbeat.setRhythm(WATCHED_RHYTHM);
  assert.deepEqual(log, ["ping 15000"]);
  clock.advance(1_599);
  assert.ok(!log.some((line) => line.startsWith("quiet")));
  clock.advance(1);
  assert.equal(log.at(-1), "quiet 16600");
});

Deno.test("a ping that finds the link gone leaves no timer running", () => {
  const clock = new FakeClock();
  const heartbeat: Heartbeat = new Heartbeat(CALM_RHYTHM, {
    clock,
    ping: () => heartbeat.stop(),
    onAnswering: () => {},
    onDead: () => assert.fail("a stopped heartbeat ends nothing"),
  });
  heartbeat.heard();
  clock.advance(300_000);
  assert.equal(clock.pending, 0);
});
