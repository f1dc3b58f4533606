/** Token buckets: a burst, then a rate. */
import assert from "node:assert/strict";
import { TokenBucket, TokenBuckets } from "../../../src/async/token_bucket.ts";

Deno.test("a burst is taken, then as many as the rate earns [http-429]", () => {
  const limit = new TokenBuckets({ perSecond: 2, burst: 3 });
  assert.deepEqual([1, 2, 3, 4].map(() => limit.take("a", 0)), [0, 0, 0, 1]);
  assert.equal(limit.take("a", 499), 1);
  assert.equal(limit.take("a", 500), 0);
  assert.equal(limit.take("a", 500), 1);
  assert.equal(limit.take("b", 500), 0);
});

Deno.test("the wait of a key is in whole seconds", () => {
  const limit = new TokenBuckets({ perSecond: 0.1, burst: 1 });
  limit.take("a", 0);
  assert.equal(limit.take("a", 0), 10);
  assert.equal(limit.take("a", 9_500), 1);
  assert.equal(limit.take("a", 10_000), 0);
});

Deno.test("a clock that is set back earns nothing and locks nobody out", () => {
  const limit = new TokenBuckets({ perSecond: 1, burst: 1 });
  limit.take("a", 100_000);
  assert.equal(limit.take("a", 0), 1);
  assert.equal(limit.take("a", 1_000), 0);
});

Deno.test("the keys remembered are bounded", () => {
  const limit = new TokenBuckets({ perSecond: 1, burst: 1, keys: 2 });
  for (const caller of ["a", "b", "c"]) limit.take(caller, 0);
  assert.deepEqual(["c", "a"].map((caller) => limit.take(caller, 0)), [1, 0]);
});

Deno.test("a single bucket returns the exact wait, and a charge may leave it in debt", () => {
  const bucket = new TokenBucket({ perSecond: 4, burst: 1 }, 0);
  assert.equal(bucket.take(0), 0);
  assert.equal(bucket.take(0), 0.25);
  assert.equal(bucket.secondsUntil(125, 1), 0.125);
  bucket.charge(125, 2);
  assert.equal(bucket.take(125), 0.625);
  assert.equal(bucket.take(750), 0);
});
