/** What `svc verify` says of an agent's version. */
import assert from "node:assert/strict";
import { profile as codex } from "../../../../../src/agents/codex/profile.ts";
import { judgeVersions } from "../../../../../src/cli/checks/agents/presence.ts";

Deno.test("agents of the measured version, or of an unknown one, are no reason to warn [agent-versions]", () => {
  const found = judgeVersions([
    { kind: "codex", version: codex.measuredVersion },
    { kind: "gemini", version: undefined },
    { kind: "cursor", version: "2026.01.02-abc" },
  ]);
  assert.equal(found.mark, "ok");
});

Deno.test("a newer agent is a warning that says what it means and what to do [agent-versions]", () => {
  const found = judgeVersions([{ kind: "codex", version: "999.0.0" }, { kind: "gemini", version: "0.1.0" }]);
  assert.equal(found.mark, "warning");
  assert.match(found.finding, /^Codex 999\.0\.0 is newer than \d[\d.]+: messages and keys are refused where/);
  assert.equal(found.fix, "run: svc agents check codex");
});
