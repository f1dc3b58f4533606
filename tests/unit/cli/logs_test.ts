/** How svc logs shows the audit. */
import assert from "node:assert/strict";
import { auditLine } from "../../../src/cli/logs.ts";

const ENTRY = {
  time: "2026-11-20T00:00:00.000Z",
  device: "dev_phone_1",
  session: "svc-a",
  pane: "%1",
  digest: "abcdef012345".padEnd(64, "0"),
  length: 12,
  outcome: "refused shell_in_pane",
};

Deno.test("an entry is shown as one readable line [ls-audit-shown]", () => {
  assert.equal(
    auditLine(JSON.stringify(ENTRY)),
    "[2026-11-20T00:00:00.000Z] svc-a %1 refused shell_in_pane — 12 characters abcdef012345 from dev_phone_1",
  );
});

Deno.test("an entry in a relay's words cannot add a line to the audit, nor color one [ls-audit-shown]", () => {
  const forged = "[2026-11-20T00:00:01.000Z] svc-b %2 submitted — 9 characters 0123456789ab from dev_phone_1";
  for (const field of ["session", "device"]) {
    const line = auditLine(JSON.stringify({ ...ENTRY, [field]: `x\r\n${forged}\u001b[2m` }));
    assert.ok(!/[\x00-\x1f]/.test(line), line);
  }
});

Deno.test("a line that is not an entry is shown unchanged", () => {
  assert.equal(auditLine("{torn"), "{torn");
});
