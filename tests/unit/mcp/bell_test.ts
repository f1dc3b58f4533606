/** News wake who waits, and are not lost on who does not yet. */
import assert from "node:assert/strict";
import { Bell } from "../../../src/mcp/bell.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";

Deno.test("a ring wakes all who wait; one that nobody heard wakes the next, once", async () => {
  const clock = new FakeClock();
  const bell = new Bell(clock);
  const waiting = [bell.next(1_000), bell.next(1_000)];
  bell.ring();
  await Promise.all(waiting);
  bell.ring();
  bell.ring();
  await bell.next(1_000);
  let woken = false;
  const next = bell.next(1_000).then(() => woken = true);
  await Promise.resolve();
  assert.equal(woken, false);
  clock.advance(1_000);
  await next;
  assert.equal(clock.pending, 0);
});

Deno.test("an abort ends the wait with its reason, before it and during it", async () => {
  const clock = new FakeClock();
  const bell = new Bell(clock);
  const abort = new AbortController();
  const waiting = bell.next(1_000, abort.signal);
  abort.abort(new Error("taken back"));
  await assert.rejects(waiting, /taken back/);
  await assert.rejects(bell.next(1_000, abort.signal), /taken back/);
  assert.equal(clock.pending, 0);
});
