/** Waiting for a receipt while the relay comes and goes. */

import assert from "node:assert/strict";
import type { RelayApi } from "../../../src/client/api.ts";
import { RelayError } from "../../../src/client/relay_error.ts";
import { waitForReceipt } from "../../../src/client/wait_for_receipt.ts";
import type { PushRecord } from "../../../src/protocol/push.ts";
import type { PushState } from "../../../src/protocol/receipt.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";
import { until } from "../../helpers/until.ts";

const ID = "0b3a1c9e-1111-4222-8333-444455556666";

const record = (state: PushState, final: boolean): PushRecord => ({
  push: { id: ID, type: "agent.command", from: "dev_phone_1", createdAt: 1, expiresAt: 2 },
  receipt: { state, final, at: {} },
});

const away = new RelayError("Cannot read the push: no relay", { code: "unreachable" });

/** Returns an API that gives one answer after the other and repeats the last one. */
function scripted(answers: (PushRecord | Error)[]): { api: RelayApi; asked: () => number } {
  let asked = 0;
  const getPush = (): Promise<PushRecord> => {
    const answer = answers[Math.min(asked++, answers.length - 1)];
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer as PushRecord);
  };
  return { api: { getPush } as Partial<RelayApi> as RelayApi, asked: () => asked };
}

/** Advances the clock every time the wait sleeps. */
async function run<T>(clock: FakeClock, wait: Promise<T>): Promise<T> {
  let done = false;
  const settled = wait.finally(() => done = true);
  settled.catch(() => {});
  await until("the wait to end", () => {
    clock.advance(clock.pending > 0 ? 100 : 0);
    return done;
  });
  return settled;
}

Deno.test("it polls until the receipt is final, even while the relay is unreachable", async () => {
  const clock = new FakeClock();
  const { api } = scripted([record("queued", false), away, record("submitted", true)]);
  const found = await run(clock, waitForReceipt(api, ID, { timeoutMs: 5_000, clock }));
  assert.equal(found.receipt.state, "submitted");
});

Deno.test("it asks again no sooner than the relay's Retry-After says", async () => {
  const clock = new FakeClock();
  const tooMany = new RelayError("Cannot read the push: too many requests", {
    code: "rate_limited",
    status: 429,
    retryAfterSeconds: 3,
  });
  const { api, asked } = scripted([tooMany, record("submitted", true)]);
  const waiting = waitForReceipt(api, ID, { timeoutMs: 10_000, clock });
  await until("the first refusal", () => clock.pending > 0);
  clock.advance(2_900);
  await Promise.resolve();
  assert.equal(asked(), 1);
  assert.equal((await run(clock, waiting)).receipt.state, "submitted");
});

Deno.test("on timeout it returns the last record", async () => {
  const clock = new FakeClock();
  const { api } = scripted([record("held", false), away]);
  const found = await run(clock, waitForReceipt(api, ID, { timeoutMs: 1_000, clock }));
  assert.deepEqual([found.receipt.state, found.receipt.final], ["held", false]);
});

Deno.test("it throws if the relay never answered, and at once if the push is unknown", async () => {
  const clock = new FakeClock();
  await assert.rejects(
    run(clock, waitForReceipt(scripted([away]).api, ID, { timeoutMs: 1_000, clock })),
    away,
  );
  const unknown = new RelayError("Cannot read the push", { code: "unknown_push", status: 404 });
  const { api, asked } = scripted([unknown]);
  await assert.rejects(waitForReceipt(api, ID, { timeoutMs: 1_000, clock }), unknown);
  assert.equal(asked(), 1);
});

Deno.test("aborting ends the wait and leaves no timer [style-backoff]", async () => {
  const clock = new FakeClock();
  const abort = new AbortController();
  const { api } = scripted([record("queued", false)]);
  const wait = waitForReceipt(api, ID, { timeoutMs: 60_000, clock, signal: abort.signal });
  await until("the first sleep", () => clock.pending === 1);
  abort.abort(new Error("stop"));
  await assert.rejects(wait, { message: "stop" });
  assert.equal(clock.pending, 0);
});
