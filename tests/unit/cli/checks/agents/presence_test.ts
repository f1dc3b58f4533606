/** An agent's version, read from its program's location, and what svc verify says about it. */
import assert from "node:assert/strict";
import { profile as codex } from "../../../../../src/agents/codex/profile.ts";
import { judgeVersions, versionAt } from "../../../../../src/cli/checks/agents/presence.ts";

const packages: Record<string, string> = {
  "/usr/lib/node_modules/@openai/codex/package.json": '{"version":"0.169.0"}',
  "/usr/lib/node_modules/opencode-ai/package.json": '{"version":"1.18.33"}',
};
const files = { readText: (path: string) => Promise.resolve(packages[path]) };

Deno.test("the version comes from a package, or from the name of the folder that an agent's own installer made; other programs have none [set-verify]", async () => {
  const told: [path: string, version: string | undefined][] = [
    ["/usr/lib/node_modules/@openai/codex/bin/codex.js", "0.169.0"],
    ["/usr/lib/node_modules/opencode-ai/bin/opencode", "1.18.33"],
    ["/usr/lib/node_modules/gone/cli.js", undefined],
    ["/home/me/.local/share/claude/versions/2.1.329", "2.1.329"],
    ["/home/me/.local/share/cursor-agent/versions/2026.11.02-1f2e3d4/cursor-agent", "2026.11.02-1f2e3d4"],
    ["/opt/tools/22.1.0/bin/claude", undefined],
  ];
  for (const [path, version] of told) assert.equal(await versionAt(files, path), version, path);
});

Deno.test("agents of the measured version, or of an unknown one, cause no warning [agent-versions]", () => {
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
  assert.match(
    found.finding,
    /^Codex 999\.0\.0 is newer than \d[\d.]+: messages and keys are refused on screens that svc no longer recognizes$/,
  );
  assert.equal(found.fix, "run: svc agents check codex");
});
