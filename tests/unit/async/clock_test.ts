/** Polling until there is a value. */
import assert from "node:assert/strict";
import { PATIENCE_MS, waitFor, withProgress } from "../../../src/async/clock.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";
import { until } from "../../helpers/until.ts";

Deno.test("the first value ends the polling; without one the result is undefined", async () => {
  const clock = new FakeClock();
  const answers = [undefined, undefined, "yes"];
  const found = waitFor(() => Promise.resolve(answers.shift()), { clock, limitMs: 100, everyMs: 10 });
  for (let probe = 0; probe < 2; probe++) {
    await until("the pause", () => clock.pending === 1);
    clock.advance(10);
  }
  assert.equal(await found, "yes");
  const never = waitFor(() => Promise.resolve(undefined), { clock, limitMs: 10, everyMs: 10 });
  await until("the pause", () => clock.pending === 1);
  clock.advance(10);
  assert.equal(await never, undefined);
});

Deno.test("progress is shown for work that takes longer than a second, not for quick work [cli-progress]", async () => {
  const clock = new FakeClock();
  let shown = 0;
  const show = (): void => void shown++;
  assert.equal(await withProgress(Promise.resolve(1), { clock, show }), 1);
  await assert.rejects(withProgress(Promise.reject(new Error("failed")), { clock, show }), /failed/);
  assert.deepEqual([shown, clock.pending], [0, 0]);
  const { promise, resolve } = Promise.withResolvers<number>();
  const slow = withProgress(promise, { clock, show });
  clock.advance(PATIENCE_MS);
  resolve(2);
  assert.equal(await slow, 2);
  assert.deepEqual([shown, clock.pending], [1, 0]);
});
