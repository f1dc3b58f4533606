/** Progress: every 20 seconds, until the wait ends. */
import assert from "node:assert/strict";
import { type Progress, PROGRESS_EVERY_MS, startProgress } from "../../../src/mcp/progress.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";

Deno.test("progress grows with the time waited, and ends with the wait [mcp-progress]", () => {
  const clock = new FakeClock();
  const told: Progress[] = [];
  const stop = startProgress((progress) => void told.push(progress), { clock, totalSeconds: 300 });
  clock.advance(2 * PROGRESS_EVERY_MS);
  assert.deepEqual(told.map(({ progress, total }) => [progress, total]), [[20, 300], [40, 300]]);
  assert.match(told[1]?.message ?? "", /40 s of 300 s/);
  stop();
  clock.advance(PROGRESS_EVERY_MS);
  assert.deepEqual([told.length, clock.pending], [2, 0]);
});
