/** Messages for later: how long they may wait, and the times that are offered. */
import assert from "node:assert/strict";
import { fieldTime, LATER_MAX_MS, laterTtlSeconds, suggestedTimes } from "../../../src/phone/later.ts";
import { TTL_MAX_SECONDS } from "../../../src/protocol/limits.ts";
import { NOW } from "./samples.ts";

const HOUR_MS = 3_600_000;

Deno.test("a message for later outlives its time by an hour, and waits a day for its agent [ux-later]", () => {
  const at = NOW + 2 * HOUR_MS;
  assert.equal(laterTtlSeconds({ kind: "at", at }, { now: NOW }), 3 * 3_600);
  assert.equal(laterTtlSeconds({ kind: "idle" }, { now: NOW }), 24 * 3_600);
  const resetsAt = NOW + 48 * HOUR_MS;
  assert.equal(laterTtlSeconds({ kind: "reset" }, { now: NOW, resetsAt }), 49 * 3_600);
  assert.equal(laterTtlSeconds({ kind: "reset" }, { now: NOW }), 24 * 3_600);
  assert.ok(laterTtlSeconds({ kind: "at", at: NOW + LATER_MAX_MS }, { now: NOW }) < TTL_MAX_SECONDS);
});

Deno.test("an hour from now and the next morning are offered, in the device's own time", () => {
  const evening = new Date(2026, 10, 22, 21, 30).getTime();
  const [inAnHour, morning = 0] = suggestedTimes(evening);
  assert.equal(inAnHour, evening + HOUR_MS);
  assert.equal(fieldTime(morning), "2026-11-23T08:00");
  const night = new Date(2026, 10, 22, 5, 0).getTime();
  assert.equal(fieldTime(suggestedTimes(night)[1] ?? 0), "2026-11-22T08:00");
});
