/** The audit of remote input. */
import assert from "node:assert/strict";
import { openAudit, parseAuditLine } from "../../../src/home/log_files.ts";
import { AUDIT_ENTRIES_SHOWN_MAX, AUDIT_PAGE_MAX } from "../../../src/protocol/limits.ts";
import { makeTempHome } from "../../helpers/temp_home.ts";

const ENTRY = {
  time: "2026-11-20T00:00:00.000Z",
  device: "dev_phone_1",
  session: "svc-a",
  pane: "%1",
  digest: "ab".repeat(32),
  length: 12,
  outcome: "submitted",
};

Deno.test("one line is appended for each input, in a file with mode 0600 [ls-audit, ls-audit-mode]", async () => {
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

Deno.test("the log is read in pages, newest first, through rotated files and past lines that are not entries [ls-audit-phone]", async () => {
  await using home = await makeTempHome();
  const lines = (from: number, to: number): string =>
    Array.from({ length: to - from }, (_, n) => JSON.stringify({ ...ENTRY, length: from + n }) + "\n").join(
      "",
    );
  await home.files.replaceText(`${home.paths.audit}.1`, lines(0, 60), { mode: 0o600 });
  await home.files.replaceText(home.paths.audit, `${lines(60, 70)}junk\n${lines(70, 90)}{"ti`, {
    mode: 0o600,
  });
  const audit = openAudit(home.files, home.paths.audit);
  const read: number[] = [];
  for (let more = true; more;) {
    const page = await audit.page(read.length);
    assert.equal(page.skip, read.length);
    assert.ok(page.entries.length <= AUDIT_PAGE_MAX);
    read.push(...page.entries.map(({ length }) => length));
    more = page.more;
  }
  await audit.close();
  assert.deepEqual(read, Array.from({ length: 90 }, (_, n) => 89 - n));
});

Deno.test("a missing rotated file does not hide the older ones [ls-audit-phone]", async () => {
  await using home = await makeTempHome();
  for (const [suffix, length] of [["", 3], [".2", 2], [".3", 1]] as const) {
    await home.files.writeText(home.paths.audit + suffix, `${JSON.stringify({ ...ENTRY, length })}\n`);
  }
  const audit = openAudit(home.files, home.paths.audit);
  assert.deepEqual((await audit.page(0)).entries.map(({ length }) => length), [3, 2, 1]);
  await audit.close();
});

Deno.test("a page includes entries not yet on disk, is empty without a file, and reaches back only as far as the limit [ls-audit-phone]", async () => {
  await using home = await makeTempHome();
  const audit = openAudit(home.files, home.paths.audit);
  assert.deepEqual(await audit.page(0), { skip: 0, entries: [], more: false });
  for (let length = 0; length <= AUDIT_ENTRIES_SHOWN_MAX; length++) audit.record({ ...ENTRY, length });
  const [first] = (await audit.page(0)).entries;
  assert.equal(first?.length, AUDIT_ENTRIES_SHOWN_MAX);
  const last = await audit.page(AUDIT_ENTRIES_SHOWN_MAX - 1);
  assert.deepEqual([last.entries.map(({ length }) => length), last.more], [[1], false]);
  assert.deepEqual((await audit.page(AUDIT_ENTRIES_SHOWN_MAX)).entries, []);
  await audit.close();
});
