/** Concurrent callers share one run. */
import assert from "node:assert/strict";
import { SharedRun } from "../../../src/async/mutex.ts";

Deno.test("a hundred concurrent calls cause two runs, and none gets a result from before its call", async () => {
  let runs = 0;
  const release: (() => void)[] = [];
  const shared = new SharedRun(async () => {
    const run = ++runs;
    await new Promise<void>((resolve) => release.push(resolve));
    return run;
  });
  const first = shared.get();
  const others = Array.from({ length: 99 }, () => shared.get());
  release.shift()?.();
  assert.equal(await first, 1);
  while (release.length === 0) await Promise.resolve();
  release.shift()?.();
  assert.deepEqual(new Set(await Promise.all(others)), new Set([2]));
});

Deno.test("a run that fails does not fail the ones after it", async () => {
  let runs = 0;
  const shared = new SharedRun(() =>
    ++runs === 1 ? Promise.reject(new Error("once")) : Promise.resolve(runs)
  );
  const [failed, second] = [shared.get(), shared.get()];
  await assert.rejects(failed, /once/);
  assert.equal(await second, 2);
  assert.equal(await shared.get(), 3);
});

Deno.test("two runs never overlap, whenever the next call comes", async () => {
  let running = 0;
  let most = 0;
  const shared = new SharedRun(async () => {
    most = Math.max(most, ++running);
    await Promise.resolve();
    running--;
  });
  const [first, second] = [shared.get(), shared.get()];
  await Promise.all([first.then(() => shared.get()), second]);
  assert.equal(most, 1);
});
