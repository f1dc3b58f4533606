/** How the runs of a hook and of an MCP server are judged. */
import assert from "node:assert/strict";
import { loadHooks } from "../../../../../src/agents/registry.ts";
import { judgeTools } from "../../../../../src/cli/checks/agents/agents.ts";
import { exitFault, hookFault } from "../../../../../src/cli/checks/agents/probe.ts";
import { AGENT_LABELS, type AgentKind } from "../../../../../src/protocol/names.ts";

const ran = (code: number, stdout = "", stderr = "") => ({
  code,
  stdout: new TextEncoder().encode(stdout),
  stderr,
});

Deno.test("a command that cannot run is distinguished from one that fails or hangs [set-verify]", () => {
  assert.equal(exitFault(ran(0)), undefined);
  assert.match(exitFault(ran(127, "", "sh: 1: /x/svc: not found\n")) ?? "", /does not exist: .*\/x\/svc/);
  assert.match(exitFault(ran(126, "", "Permission denied")) ?? "", /cannot be run: Permission denied/);
  assert.match(exitFault(ran(3, "", "one\ntwo\n")) ?? "", /code 3: two$/);
  assert.match(exitFault(undefined) ?? "", /does not end within \d+ s/);
});

Deno.test("a hook works if it prints the agent's format and takes the marker; either alone is a fault [set-verify, tty-verify-agents]", async () => {
  for (const kind of Object.keys(AGENT_LABELS) as AgentKind[]) {
    const hooks = await loadHooks(kind);
    if (hooks?.promptEvent === undefined) continue;
    const printed = `${hooks.contextOutput(hooks.promptEvent, "REMOTE mode")}\n`;
    assert.equal(hookFault(hooks, ran(0, printed), { isTaken: true }), undefined, kind);
    assert.match(hookFault(hooks, ran(0, printed), { isTaken: false }) ?? "", /does not take/, kind);
    assert.match(hookFault(hooks, ran(0, "REMOTE mode"), { isTaken: true }) ?? "", /does not read/, kind);
    assert.match(hookFault(hooks, ran(0), { isTaken: true }) ?? "", /prints nothing for the model/, kind);
    assert.match(hookFault(hooks, ran(0), { isTaken: false }) ?? "", /unread/, kind);
  }
});

Deno.test("a server without svc_ask is not svc's [set-verify]", () => {
  const all = ["svc_ask", "svc_prompt", "svc_input", "svc_notify"];
  assert.equal(judgeTools({ tools: all }, "fix").mark, "ok");
  assert.deepEqual(judgeTools({ tools: all.slice(1) }, "fix"), {
    mark: "fault",
    finding: "its tools lack svc_ask",
    fix: "fix",
  });
  assert.equal(judgeTools({ why: "it is gone" }, "fix").finding, "it is gone");
});
