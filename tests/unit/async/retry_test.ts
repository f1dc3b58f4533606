/** Retries after a transient failure. */
import assert from "node:assert/strict";
import { backoffMs, retry, retryDelayMs, type RetryOptions } from "../../../src/async/retry.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";
import { until } from "../../helpers/until.ts";

class Passing extends Error {
  constructor(readonly retryAfterSeconds?: number) {
    super("not now");
  }
}

const BACKOFF = { minMs: 100, maxMs: 1_000, random: () => 0.5 };

function optionsOf(clock: FakeClock): RetryOptions {
  return { isTransient: (error) => error instanceof Passing, backoff: BACKOFF, clock };
}

Deno.test("a transient failure is retried until the work succeeds", async () => {
  const clock = new FakeClock();
  const failures = [new Passing(), new Passing(7)];
  const work = (): Promise<string> => {
    const failure = failures.shift();
    return failure === undefined ? Promise.resolve("done") : Promise.reject(failure);
  };
  const result = retry(work, optionsOf(clock));
  await until("the first wait", () => clock.pending === 1);
  clock.advance(50);
  await until("the second wait", () => failures.length === 0 && clock.pending === 1);
  clock.advance(6_999);
  assert.equal(clock.pending, 1, "Retry-After is honored");
  clock.advance(1);
  assert.equal(await result, "done");
});

Deno.test("a permanent failure is thrown at once", async () => {
  const clock = new FakeClock();
  await assert.rejects(retry(() => Promise.reject(new Error("never")), optionsOf(clock)), /never/);
  assert.equal(clock.pending, 0);
});

Deno.test("an abort ends the wait with its reason", async () => {
  const clock = new FakeClock();
  const abort = new AbortController();
  const result = retry(() => Promise.reject(new Passing()), { ...optionsOf(clock), signal: abort.signal });
  await until("the wait", () => clock.pending === 1);
  abort.abort(new Error("taken back"));
  await assert.rejects(result, /taken back/);
  assert.equal(clock.pending, 0);
});

Deno.test("the back-off doubles up to its bound; Retry-After replaces it", () => {
  const waits = [0, 1, 2, 3, 4, 5, 400].map((attempt) => backoffMs(attempt, BACKOFF));
  assert.deepEqual(waits, [50, 100, 200, 400, 500, 500, 500]);
  assert.equal(retryDelayMs(new Passing(2), { ...BACKOFF, attempt: 5 }), 2_000);
  assert.equal(retryDelayMs(new Passing(), { ...BACKOFF, attempt: 1 }), 100);
  assert.equal(retryDelayMs("text", { ...BACKOFF, attempt: 1 }), 100);
});
