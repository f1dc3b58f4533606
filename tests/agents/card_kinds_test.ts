/** Other permissions of the real agents (plans, edits, MCP tools), and lasting permissions, given from a phone. */
import assert from "node:assert/strict";
import { until } from "../helpers/until.ts";
import { CARD_LIMIT_MS, CardStage, exists, type OpenCard } from "./card_stage.ts";
import type { RealAgent } from "./install.ts";
import { MCP_COMMAND, MCP_NAME, MCP_TOOL } from "./stand_in/mcp_server.ts";
import type { SvcAgent } from "./run_agent.ts";
import type { Reply } from "./stand_in/server.ts";
import { show } from "./table.ts";

const [COMMAND = "", ...ARGS] = MCP_COMMAND;

/** Merges `more` into a JSON file of the agent's settings. */
async function merge(path: string, more: Record<string, unknown>): Promise<void> {
  const text = await Deno.readTextFile(path).catch(() => "{}");
  await Deno.writeTextFile(path, JSON.stringify({ ...JSON.parse(text), ...more }));
}

/** Registers the MCP server, and makes OpenCode ask before edits and before the server's tool. */
const PREPARE: Readonly<Record<Exclude<RealAgent, "gemini">, (home: string) => Promise<void>>> = {
  cc: (home) =>
    merge(`${home}/.claude.json`, {
      mcpServers: { [MCP_NAME]: { type: "stdio", command: COMMAND, args: ARGS, alwaysLoad: true } },
    }),
  codex: (home) => {
    const table = [
      `[mcp_servers.${MCP_NAME}]`,
      `command = ${JSON.stringify(COMMAND)}`,
      `args = ${JSON.stringify(ARGS)}`,
    ];
    return Deno.writeTextFile(`${home}/.codex/config.toml`, `\n${table.join("\n")}\n`, { append: true });
  },
  opencode: (home) =>
    merge(`${home}/.config/opencode/opencode.json`, {
      permission: { bash: "ask", edit: "ask", [`${MCP_NAME}_*`]: "ask" },
      mcp: { [MCP_NAME]: { type: "local", command: MCP_COMMAND, enabled: true } },
    }),
  copilot: (home) =>
    merge(`${home}/.copilot/mcp-config.json`, {
      mcpServers: { [MCP_NAME]: { type: "local", command: COMMAND, args: ARGS, tools: ["*"] } },
    }),
};

interface Asked {
  agent: keyof typeof PREPARE;
  what: "edit" | "MCP tool";
  tool: string;
  /** Returns the input of the call that creates the file at this path. */
  input: (path: string) => Record<string, unknown>;
}

const patch = (path: string): string =>
  `apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: ${path}\n+made by the model\n*** End Patch\nEOF`;

const ASKED: readonly Asked[] = [
  {
    agent: "cc",
    what: "edit",
    tool: "Write",
    input: (file_path) => ({ file_path, content: "made by the model\n" }),
  },
  { agent: "codex", what: "edit", tool: "exec_command", input: (path) => ({ cmd: patch(path) }) },
  {
    agent: "opencode",
    what: "edit",
    tool: "write",
    input: (filePath) => ({ filePath, content: "made by the model\n" }),
  },
  ...(["cc", "codex", "opencode", "copilot"] as const).map((agent): Asked => ({
    agent,
    what: "MCP tool",
    tool: MCP_TOOL,
    input: (path) => ({ path }),
  })),
];

/** Asserts that the card has the whole request; Codex takes a patch out of its command. */
function assertWhole({ push: { body = "" } }: OpenCard, { input }: Asked, path: string): void {
  for (const value of Object.values(input(path))) {
    const lines = String(value).split("\n").filter((line) => !/^apply_patch|^EOF$/.test(line));
    for (const line of lines) assert.ok(body.includes(line), `${line} in ${body}`);
  }
}

for (const asked of ASKED) {
  const { agent: kind, what, tool, input } = asked;
  Deno.test(`${kind}: a phone allows one ${what} and refuses another, with its reason [other-agents, card-approvals]`, async () => {
    await using stage = await CardStage.open(kind, { allowRemoteApproval: "once" }, {
      prepare: PREPARE[kind],
    });
    const { agent } = stage;
    const ask = async (name: string): Promise<OpenCard> => {
      agent.standIn.callTool(tool, input(stage.made(name)));
      await stage.start(`make ${name}`);
      const card = await stage.untilCard(name);
      assertWhole(card, asked, stage.made(name));
      return card;
    };
    await stage.decide(await ask("allowed.txt"), { decision: "once" });
    await stage.untilMade("allowed.txt");
    await agent.untilIdle();
    await stage.decide(await ask("refused.txt"), { decision: "reject", reason: "not this, says the phone" });
    await stage.untilRead("not this, says the phone");
    await agent.untilIdle();
    assert.equal(await exists(stage.made("refused.txt")), false);
    show(kind, what === "edit" ? "edits" : "mcp");
  });
}

/**
 * Makes the model write a plan. Claude loads the tool when its model looks for it, names the plan's file itself, and
 * shows the file.
 */
function planWith({ standIn }: SvcAgent, plan: string): void {
  const calls = (path = ""): Reply[] => [
    { kind: "tool", name: "ToolSearch", input: { query: "select:ExitPlanMode", max_results: 1 } },
    { kind: "tool", name: "Write", input: { file_path: path, content: plan } },
    { kind: "tool", name: "ExitPlanMode", input: {} },
  ];
  let called = 0;
  standIn.reply = () =>
    calls(/\/[^"\s\\]*\/plans\/[\w-]+\.md/.exec(standIn.bodies().at(-1) ?? "")?.[0])[called++];
}

Deno.test("cc: a phone refuses a plan with its reason, and accepts another [other-agents, card-approvals]", async () => {
  const prepare = (home: string): Promise<void> =>
    merge(`${home}/.claude/settings.json`, { permissions: { defaultMode: "plan" } });
  await using stage = await CardStage.open("cc", { allowRemoteApproval: "once" }, { prepare });
  const { agent } = stage;
  const ask = async (plan: string): Promise<OpenCard> => {
    planWith(agent, plan);
    await stage.start(`plan ${plan}`);
    return await stage.untilCard(plan);
  };
  const isPlanning = async (): Promise<boolean> =>
    (await agent.pane.screen()).lines.some((line) => /plan mode on/.test(line));
  assert.ok(await isPlanning());
  await stage.decide(await ask("# The first plan"), {
    decision: "reject",
    reason: "too bold, says the phone",
  });
  await stage.untilRead("too bold, says the phone");
  await agent.untilIdle();
  assert.ok(await isPlanning());
  await stage.decide(await ask("# The second plan"), { decision: "once" });
  await until("the end of the plan mode", async () => !await isPlanning(), CARD_LIMIT_MS);
  await agent.untilIdle();
  show("cc", "plan");
});

/** The only agents whose hook can always allow. */
for (const kind of ["cc", "opencode"] as const) {
  Deno.test(`${kind}: a permission that a phone always allows is not asked again, any other is [other-agents, card-approvals]`, async () => {
    await using stage = await CardStage.open(kind, { allowRemoteApproval: "always" });
    const { agent } = stage;
    const run = async (command: string): Promise<void> => {
      await agent.untilIdle();
      agent.standIn.callShell(command);
      await stage.start(`run ${command}`);
    };
    await run("git init always-1");
    const card = await stage.untilCard("git init always-1");
    assert.ok(card.data.kind === "approval" && card.data.decisions.includes("always"));
    assert.match(card.push.body ?? "", /allowed from then on, with always/);
    await stage.decide(card, { decision: "always" });
    await stage.untilMade("always-1");
    await agent.untilIdle();
    await Deno.remove(stage.made("always-1"), { recursive: true });
    await run("git init always-1");
    await stage.untilMade("always-1");
    await run("mkdir asked-again");
    const other = await stage.untilCard("mkdir asked-again");
    await stage.decide(other, { decision: "reject" });
    await agent.untilIdle();
    assert.equal(await exists(stage.made("asked-again")), false);
    show(kind, "always");
  });
}
