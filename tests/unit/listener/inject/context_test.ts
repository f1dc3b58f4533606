/** The token bucket of a session. */
import assert from "node:assert/strict";
import { SessionRateLimit } from "../../../../src/listener/inject/context.ts";

Deno.test("rate limit: 30 a minute for each session, then the wait in seconds [lim-rate, err-rate, inj-rate-wait, inj-3-rate]", () => {
  let now = 0;
  const limit = new SessionRateLimit(() => now);
  for (let count = 0; count < 30; count++) assert.equal(limit.take("svc-a"), 0);
  assert.equal(limit.take("svc-a"), 2);
  assert.equal(limit.take("svc-b"), 0);
  now = 1_999;
  assert.equal(limit.take("svc-a"), 1);
  now = 2_001;
  assert.equal(limit.take("svc-a"), 0);
  assert.ok(limit.take("svc-a") > 0);
});

Deno.test("rate limit: a clock that is set back earns no tokens and does no harm", () => {
  let now = 100_000;
  const limit = new SessionRateLimit(() => now);
  for (let count = 0; count < 30; count++) limit.take("svc-a");
  now = 0;
  assert.ok(limit.take("svc-a") > 0);
  now = 2_100;
  assert.equal(limit.take("svc-a"), 0);
});
