/** Polling until there is a value. */
import assert from "node:assert/strict";
import { waitFor } from "../../../src/async/clock.ts";
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
