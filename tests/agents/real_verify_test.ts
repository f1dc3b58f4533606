/** Five real agents in one home: `svc setup` finds them all, and `svc verify` tests what it registered. */
import assert from "node:assert/strict";
import { AGENT_LABELS } from "../../src/protocol/names.ts";
import { runSvc } from "../helpers/program.ts";
import { makeStack } from "../helpers/stack.ts";
import { installAgent, REAL_AGENTS, type RealAgent } from "./install.ts";
import { show } from "./table.ts";

const KINDS = Object.keys(REAL_AGENTS) as RealAgent[];

interface Line {
  name: string;
  mark: string;
  finding: string;
}

Deno.test("svc setup finds the five real agents, and svc verify tries each one's hook and MCP server [tty-verify-agents, set-detect, other-agents]", async () => {
  await using stack = await makeStack();
  const { sandbox } = stack;
  const programs = await Promise.all(KINDS.map(installAgent));
  const folders = programs.map((program) => program.replace(/\/[^/]*$/, ""));
  const env = { PATH: [...folders, sandbox.env.PATH].join(":") };
  const setup = await runSvc(sandbox, ["setup"], { env });
  assert.equal(setup.code, 0, setup.stdout + setup.stderr);
  const { stdout, stderr } = await runSvc(sandbox, ["verify", "--json"], { env });
  const lines: Line[] = JSON.parse(stdout);
  const finding = (name: string): Line | undefined => lines.find((line) => line.name === name);
  for (const kind of KINDS) {
    const [hooks, mcp] = [finding(`${AGENT_LABELS[kind]}, hooks`), finding(`${AGENT_LABELS[kind]}, MCP`)];
    assert.match(hooks?.finding ?? "", /informs the model$/, stderr);
    assert.match(mcp?.finding ?? "", /svc_ask, svc_prompt, svc_input, svc_notify/);
    assert.deepEqual([hooks?.mark, mcp?.mark], ["ok", "ok"]);
    assert.ok(finding("agents")?.finding.includes(`${AGENT_LABELS[kind]} ${REAL_AGENTS[kind].version}`));
    show(kind, "verify");
  }
});
