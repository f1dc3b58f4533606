/** Which keys of the configuration the phone is told to widen what it may do. */
import assert from "node:assert/strict";
import type { Config } from "../../../../src/home/config.ts";
import { DEFAULT_POLICY, policyOf, widenedBy } from "../../../../src/listener/inject/policy.ts";

const WIDE: Config = {
  allowShellEscape: true,
  allowRemoteApproval: "reject",
  steer: true,
  allowUnknownScreens: true,
  allowApprovalChange: true,
  allowCommands: ["compact"],
  allowAgentEnd: true,
};

Deno.test("the phone is told each key that widens what it may do, and none by default", () => {
  assert.deepEqual(widenedBy(DEFAULT_POLICY), []);
  assert.deepEqual(widenedBy(policyOf({})), []);
  assert.deepEqual(widenedBy(policyOf({ allowRemoteApproval: false, allowCommands: [] })), []);
  assert.deepEqual(widenedBy(policyOf(WIDE)).toSorted(), Object.keys(WIDE).toSorted());
  for (const [key, value] of Object.entries(WIDE)) {
    assert.deepEqual(widenedBy(policyOf({ [key]: value })), [key]);
  }
  assert.equal(Object.keys(WIDE).length, Object.keys(DEFAULT_POLICY).length, "every field of the policy");
});
