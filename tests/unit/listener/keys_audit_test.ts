/** What the audit log says of live input: bursts, never their text. */
import assert from "node:assert/strict";
import type { AuditEntry } from "../../../src/home/audit.ts";
import { BURST_CALM_MS, KeysAudit } from "../../../src/listener/keys_audit.ts";
import { canonicalDigest } from "../../../src/protocol/canonical.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";

Deno.test("keys audit: one line a burst and outcome, with digest and length, never the text [ls-audit]", async () => {
  const clock = new FakeClock();
  const entries: AuditEntry[] = [];
  const names = { device: "dev_phone", session: "svc-p", pane: "%3" };
  const audit = new KeysAudit({ clock, names, record: (entry) => void entries.push(entry) });
  for (const text of ["p", "w", "d"]) audit.add({ type: "text", text }, "keys typed");
  audit.add({ type: "key", key: "Enter" }, "keys typed");
  clock.advance(BURST_CALM_MS);
  audit.add({ type: "paste", text: "pasted" }, "keys refused dialog_open");
  audit.add({ type: "text", text: "x" }, "keys typed");
  await audit.close();
  const seen = entries.map(({ digest, length, outcome }) => [digest, length, outcome]);
  assert.deepEqual(seen, [
    [await canonicalDigest("pwd<Enter>"), 10, "keys typed"],
    [await canonicalDigest("pasted"), 6, "keys refused dialog_open"],
    [await canonicalDigest("x"), 1, "keys typed"],
  ]);
  assert.deepEqual(entries[0], { ...entries[0], ...names });
  assert.doesNotMatch(JSON.stringify(entries), /pwd|pasted/);
  assert.equal(clock.pending, 0);
});
