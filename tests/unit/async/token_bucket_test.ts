/** Token buckets: a burst, then a rate. */
import assert from "node:assert/strict";
import { TokenBucket, TokenBuckets } from "../../../src/async/token_bucket.ts";

Deno.test("a burst is allowed, then as many as the rate earns [http-429]", () => {
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

Deno.test("a clock that is set back earns nothing and locks no caller out", () => {
  const limit = new TokenBuckets({ perSecond: 1, burst: 1 });
  limit.take("a", 100_000);
  assert.equal(limit.take("a", 0), 1);
  assert.equal(limit.take("a", 1_000), 0);
});

Deno.test("a caller under many names does not get its own bucket back as a full one [flood-table]", () => {
  const limit = new TokenBuckets({ perSecond: 1, burst: 10, keys: 2 });
  limit.charge("a", 0, 10);
  limit.charge("b", 0, 10);
  for (const name of ["c", "d", "e"]) limit.take(name, 0);
  assert.equal(limit.take("a", 0), 1);
});

Deno.test("beyond the stored keys, callers share one bucket until others are full again [flood-table]", () => {
  const limit = new TokenBuckets({ perSecond: 1, burst: 2, keys: 2 });
  for (const name of ["a", "b"]) limit.charge(name, 0, 2);
  assert.deepEqual(["c", "d", "e"].map((name) => limit.take(name, 0)), [0, 0, 1]);
  assert.deepEqual(["f", "g", "h", "i"].map((name) => limit.take(name, 2_000, 2)), [0, 0, 0, 2]);
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
