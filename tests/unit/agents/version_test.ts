/** Versions as the agents print them, and which of two is newer. */
import assert from "node:assert/strict";
import { compareVersions, isNewerThanMeasured, parseVersion } from "../../../src/agents/version.ts";

for (
  const [printed, version] of [
    ["2.1.329 (Claude Code)\n", "2.1.329"],
    ["codex-cli 0.169.0\n", "0.169.0"],
    ["0.61.0\n", "0.61.0"],
    ["GitHub Copilot CLI 1.0.102.\nRun 'copilot update' to check for updates.", "1.0.102"],
    ["2025.09.18-7ae6800\n", "2025.09.18-7ae6800"],
    ["1.19.0-beta.2", "1.19.0-beta.2"],
    ["not a version", undefined],
  ] as const
) {
  Deno.test(`the version in "${printed.trim()}" is ${version} [agent-versions]`, () => {
    assert.equal(parseVersion(printed), version);
  });
}

Deno.test("versions compare by their numbers, and one with a suffix is older [agent-versions]", () => {
  const sign = (left: string, right: string) => Math.sign(compareVersions(left, right) ?? NaN);
  assert.equal(sign("2.1.330", "2.1.329"), 1);
  assert.equal(sign("2.1.99", "2.1.329"), -1);
  assert.equal(sign("1.2", "1.2.0"), 0);
  assert.equal(sign("2026.01.02-abc", "2025.12.31-def"), 1);
  assert.equal(sign("1.19.0-beta.2", "1.19.0"), -1);
  assert.equal(compareVersions("unknown", "1.0"), undefined);
});

Deno.test("only a known version counts as newer than the measured one [agent-versions]", () => {
  assert.equal(isNewerThanMeasured("0.170.0", "0.169.0"), true);
  assert.equal(isNewerThanMeasured("0.169.0", "0.169.0"), false);
  assert.equal(isNewerThanMeasured(undefined, "0.169.0"), false);
  assert.equal(isNewerThanMeasured("0.170.0", ""), false);
});
