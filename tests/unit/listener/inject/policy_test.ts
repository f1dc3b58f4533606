/** The list of configuration keys that give a phone more rights, which the phone shows. */
import assert from "node:assert/strict";
import type { Config } from "../../../../src/home/config.ts";
import { policyOf, widenedBy } from "../../../../src/listener/inject/policy.ts";
import { DEFAULT_POLICY } from "../../../helpers/fake_pane.ts";

const WIDE: Config = {
  allowShellEscape: true,
  allowRemoteApproval: "reject",
  steer: true,
  allowUnknownScreens: true,
  allowApprovalChange: true,
  allowCommands: ["compact"],
  allowAgentEnd: true,
};

Deno.test("every configuration key that gives a phone more rights is listed for it, and none by default", () => {
  assert.deepEqual(widenedBy(DEFAULT_POLICY), []);
  assert.deepEqual(widenedBy(policyOf({})), []);
  assert.deepEqual(widenedBy(policyOf({ allowRemoteApproval: false, allowCommands: [] })), []);
  assert.deepEqual(widenedBy(policyOf(WIDE)).toSorted(), Object.keys(WIDE).toSorted());
  for (const [key, value] of Object.entries(WIDE)) {
    assert.deepEqual(widenedBy(policyOf({ [key]: value })), [key]);
  }
  assert.equal(
    Object.keys(WIDE).length,
    Object.keys(DEFAULT_POLICY).length,
    "one key for each field of the policy",
  );
});
