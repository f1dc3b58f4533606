/** Claims of wrappers that are about to attach. */
import assert from "node:assert/strict";
import { CLAIM_LIFE_MS, isClaimed, newClaim, spentClaim } from "../../../src/wrapper/claim.ts";

const NOW = 1_795_000_000_000;

Deno.test("a claim counts while it is young, and two are never alike", () => {
  const claim = newClaim(NOW);
  assert.notEqual(claim, newClaim(NOW));
  assert.equal(isClaimed(claim, NOW + CLAIM_LIFE_MS - 1), true);
  assert.equal(isClaimed(claim, NOW + CLAIM_LIFE_MS), false);
});

Deno.test("no claim, junk, and one of a clock that was set back count for nothing", () => {
  for (const claim of ["", "junk", "NaN.x"]) assert.equal(isClaimed(claim, NOW), false, claim);
  assert.equal(isClaimed(newClaim(NOW + CLAIM_LIFE_MS), NOW), false);
});

Deno.test("a spent claim counts for nothing, and is like none before it", () => {
  assert.equal(isClaimed(spentClaim(), NOW), false);
  assert.notEqual(spentClaim(), spentClaim());
});
