/** The audit of remote input. */
import assert from "node:assert/strict";
import { openAudit, parseAuditLine } from "../../../src/home/log_files.ts";
import { makeTempHome } from "../../helpers/temp_home.ts";

const ENTRY = {
  ...{ time: "2026-11-20T00:00:00.000Z", device: "dev_phone_1", session: "svc-a", pane: "%1" },
  ...{ digest: "ab".repeat(32), length: 12, outcome: "submitted" },
};

Deno.test("one line for each input, added to what is there, 0600 [ls-audit, ls-audit-mode]", async () => {
  await using home = await makeTempHome();
  for (const session of ["svc-a", "svc-b"]) {
    const audit = openAudit(home.files, home.paths.audit);
    audit.record({ ...ENTRY, session });
    await audit.close();
  }
  const lines = (await Deno.readTextFile(home.paths.audit)).trimEnd().split("\n");
  assert.deepEqual(lines.map((line) => parseAuditLine(line)?.session), ["svc-a", "svc-b"]);
  assert.equal((await Deno.stat(home.paths.audit)).mode! & 0o777, 0o600);
});

Deno.test("a line that is not an entry is recognized", () => {
  assert.equal(parseAuditLine("junk"), undefined);
  assert.equal(parseAuditLine('{"time": 5}'), undefined);
  assert.deepEqual(parseAuditLine(JSON.stringify(ENTRY)), ENTRY);
});
