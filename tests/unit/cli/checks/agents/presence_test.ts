/** Versions as the agents print them. */
import assert from "node:assert/strict";
import { versionIn } from "../../../../../src/cli/checks/agents/presence.ts";

Deno.test("an agent's version is found among what it prints; what has none goes without [set-verify]", () => {
  assert.equal(versionIn("2.1.40 (Claude Code)\n"), "2.1.40");
  assert.equal(versionIn("codex-cli 0.150.0-alpha.2\n"), "0.150.0-alpha.2");
  assert.equal(versionIn("2026.11.02-1f2e3d4\n"), "2026.11.02-1f2e3d4");
  assert.equal(versionIn("usage: agent\n"), undefined);
});
