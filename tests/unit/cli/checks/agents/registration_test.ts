/** What verify reads from an agent's files: the registered commands, whoever wrote them. */
import assert from "node:assert/strict";
import { readRegistration } from "../../../../../src/cli/checks/agents/agents.ts";
import type { AgentKind } from "../../../../../src/protocol/names.ts";
import { makeSetupBench } from "../../../../helpers/setup_bench.ts";

const KINDS: AgentKind[] = ["cc", "gemini", "codex", "cursor", "opencode", "copilot"];

Deno.test("hook and MCP server are found for every agent that svc setup set up, and for no other [set-verify]", async () => {
  for (const kind of KINDS) {
    await using bench = await makeSetupBench();
    const before = await readRegistration(bench.host, kind);
    assert.deepEqual([before.hook, before.mcp], [undefined, undefined], kind);
    await bench.install(kind);
    const { hook, mcp } = await readRegistration(bench.host, kind);
    assert.match(hook ?? "", kind === "cursor" ? /hook stop cursor$/ : /remote/, kind);
    assert.equal(mcp?.at(-1), "mcp", kind);
    await bench.remove(kind);
    const after = await readRegistration(bench.host, kind);
    assert.deepEqual([after.hook, after.mcp], [undefined, undefined], kind);
  }
});

Deno.test("the command is the one in the file, even next to a person's own hooks [set-verify]", async () => {
  await using bench = await makeSetupBench();
  const hooks = [{ command: "mine" }, { command: "'/old/bin/svc' remote-hook gemini" }];
  const settings = {
    hooks: { BeforeAgent: [{ hooks: [{ command: "first" }] }, { hooks }] },
    mcpServers: { svc: { command: "/old/bin/svc", args: ["mcp"] } },
  };
  await bench.write(".gemini/settings.json", `// mine\n${JSON.stringify(settings)}`);
  const { hook, mcp } = await readRegistration(bench.host, "gemini");
  assert.equal(hook, "'/old/bin/svc' remote-hook gemini");
  assert.deepEqual(mcp, ["/old/bin/svc", "mcp"]);
});

Deno.test("a plugin that is switched off is not set up [set-verify, set-plugin]", async () => {
  await using bench = await makeSetupBench();
  await bench.install("cc");
  const path = ".claude/settings.json";
  const text = (await bench.tree())[`/${path}`] ?? "";
  await bench.write(path, text.replace('"svc@svc-market": true', '"svc@svc-market": false'));
  assert.equal((await readRegistration(bench.host, "cc")).hook, undefined);
});
