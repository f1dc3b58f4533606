/** A wake-up ends the current waits, or the next one. */
import assert from "node:assert/strict";
import { Wakeup } from "../../../src/async/wakeup.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";

Deno.test("a wake-up ends every current wait; without one it ends the next wait, once", async () => {
  const clock = new FakeClock();
  const wakeup = new Wakeup(clock);
  const waiting = [wakeup.wait(1_000), wakeup.wait(1_000)];
  wakeup.wake();
  await Promise.all(waiting);
  wakeup.wake();
  wakeup.wake();
  await wakeup.wait(1_000);
  let woken = false;
  const next = wakeup.wait(1_000).then(() => woken = true);
  await Promise.resolve();
  assert.equal(woken, false);
  clock.advance(1_000);
  await next;
  assert.equal(clock.pending, 0);
});

Deno.test("an abort ends the wait with its reason, before it and during it", async () => {
  const clock = new FakeClock();
  const wakeup = new Wakeup(clock);
  const abort = new AbortController();
  const waiting = wakeup.wait(1_000, abort.signal);
  abort.abort(new Error("taken back"));
  await assert.rejects(waiting, /taken back/);
  await assert.rejects(wakeup.wait(1_000, abort.signal), /taken back/);
  assert.equal(clock.pending, 0);
});

Deno.test("a sleep ends on a wake-up or after its time, and ignores an earlier wake-up", async () => {
  const clock = new FakeClock();
  const wakeup = new Wakeup(clock);
  wakeup.wake();
  let woken = 0;
  const sleeping = [wakeup.sleep(1_000).then(() => woken++)];
  await Promise.resolve();
  assert.equal(woken, 0);
  wakeup.wake();
  await Promise.all(sleeping);
  sleeping.push(wakeup.sleep(1_000).then(() => woken++));
  clock.advance(1_000);
  await Promise.all(sleeping);
  assert.equal(woken, 2);
  assert.equal(clock.pending, 0);
});
