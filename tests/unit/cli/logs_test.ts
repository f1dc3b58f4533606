/** How svc logs shows the audit. */
import assert from "node:assert/strict";
import { auditLine } from "../../../src/cli/logs.ts";

const ENTRY = {
  ...{ time: "2026-11-20T00:00:00.000Z", device: "dev_phone_1", session: "svc-a", pane: "%1" },
  ...{ digest: "abcdef012345".padEnd(64, "0"), length: 12, outcome: "refused shell_in_pane" },
};

Deno.test("an entry is shown as one readable line [ls-audit-shown]", () => {
  assert.equal(
    auditLine(JSON.stringify(ENTRY)),
    "[2026-11-20T00:00:00.000Z] svc-a %1 refused shell_in_pane — 12 characters abcdef012345 from dev_phone_1",
  );
});

Deno.test("a line that is not an entry is shown unchanged", () => {
  assert.equal(auditLine("{torn"), "{torn");
});
