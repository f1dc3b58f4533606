/** Progress of what takes long. */
import assert from "node:assert/strict";
import { PATIENCE_MS, withProgress } from "../../../src/cli/progress.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";

Deno.test("what takes more than a second is told, what is quick is not [cli-progress]", async () => {
  const clock = new FakeClock();
  const shown: string[] = [];
  const show = (line: string): void => void shown.push(line);
  assert.equal(await withProgress("quick", Promise.resolve(1), { clock, show }), 1);
  const { promise, resolve } = Promise.withResolvers<number>();
  const slow = withProgress("slow", promise, { clock, show });
  clock.advance(PATIENCE_MS);
  resolve(2);
  assert.equal(await slow, 2);
  assert.deepEqual(shown, ["slow"]);
  assert.equal(clock.pending, 0);
});
