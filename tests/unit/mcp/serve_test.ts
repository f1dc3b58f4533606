/** Progress: every 20 seconds, until the wait ends. */
import assert from "node:assert/strict";
import { type Progress, PROGRESS_EVERY_MS, startProgress } from "../../../src/mcp/serve.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";

Deno.test("progress grows with the time waited and stops when the wait ends [mcp-progress]", () => {
  const clock = new FakeClock();
  const sent: Progress[] = [];
  const stop = startProgress((progress) => void sent.push(progress), { clock, totalSeconds: 300 });
  clock.advance(2 * PROGRESS_EVERY_MS);
  assert.deepEqual(sent.map(({ progress, total }) => [progress, total]), [[20, 300], [40, 300]]);
  assert.match(sent[1]?.message ?? "", /40 s of 300 s/);
  stop();
  clock.advance(PROGRESS_EVERY_MS);
  assert.deepEqual([sent.length, clock.pending], [2, 0]);
});
