/** What setup registers in each agent: hooks, the MCP server, its time limit in the agent's unit, its allowed tools. */
import assert from "node:assert/strict";
import { AGENT_KINDS, loadHooks, loadSetup, SETUP_KINDS } from "../../../src/agents/registry.ts";
import { type AgentSetup, MCP_TOOLS } from "../../../src/agents/setup.ts";
import { GATE_LIMIT_MS } from "../../../src/home/notify_daemon.ts";
import { ASK_TIMEOUT_MAX_SECONDS } from "../../../src/protocol/limits.ts";
import type { AgentKind } from "../../../src/protocol/names.ts";
import { shellQuote } from "../../../src/runtime/system.ts";
import { CHECKOUT } from "../../helpers/sources.ts";

const LAUNCHER = "/home/it's/.svc/bin/svc";
const place = { home: "/home/u", env: {}, launcher: LAUNCHER, plugin: "/svc/plugin" };

async function setupOf(kind: AgentKind, env: Record<string, string> = {}): Promise<AgentSetup> {
  const setup = await loadSetup(kind, { ...place, env });
  assert.ok(setup);
  return setup;
}

const text = async (kind: AgentKind): Promise<string> => JSON.stringify((await setupOf(kind)).files);
const read = async (path: string): Promise<string> => await Deno.readTextFile(`${CHECKOUT}plugin/${path}`);

/** Returns the hooks' commands, as the agent will run them. */
async function commandsOf(kind: AgentKind): Promise<string[]> {
  return Array.from(
    (await text(kind)).matchAll(/"(?:command|bash)":("'(?:[^"\\]|\\.)*")/g),
    ([, word]) => JSON.parse(word ?? ""),
  );
}

Deno.test("every agent with hooks has a setup, and each setup lists what will run or be allowed without asking [set-trust-told]", async () => {
  for (const kind of AGENT_KINDS) {
    assert.equal(SETUP_KINDS.includes(kind), await loadHooks(kind) !== undefined, kind);
  }
  for (const kind of SETUP_KINDS) assert.ok((await setupOf(kind)).trusts.length > 0, kind);
});

Deno.test("hooks run the launcher by its absolute path, quoted [remote-gemini, remote-codex, cmd-setup]", async () => {
  const word = shellQuote(LAUNCHER);
  assert.equal(word, `'/home/it'\\''s/.svc/bin/svc'`);
  for (const kind of ["gemini", "codex", "copilot"] as const) {
    const commands = await commandsOf(kind);
    assert.equal(commands[0], `${word} remote-hook ${kind} gates`);
    assert.ok((await text(kind)).includes(`"${(await loadHooks(kind))?.promptEvent}"`));
    const others = commands.slice(1);
    const end = (command: string) =>
      GATE_EVENTS[kind]?.some((one) => command.includes(` ${one} `)) ? "cards" : "gates";
    for (const command of others) {
      assert.ok(command.startsWith(`${word} hook `) && command.endsWith(` ${kind} ${end(command)}`), command);
    }
    assert.ok(commands.length > 3, kind);
  }
  assert.deepEqual(await commandsOf("cursor"), [`${word} hook stop cursor`]);
});

Deno.test("each client's tool limit, in its own unit, allows for the longest question [set-timeout]", async () => {
  const longest = ASK_TIMEOUT_MAX_SECONDS + 10;
  for (const kind of ["gemini", "opencode", "copilot"] as const) {
    const limits = Array.from((await text(kind)).matchAll(/"timeout":(\d+)/g), ([, ms]) => Number(ms));
    assert.ok(Math.max(...limits) >= longest * 1_000, kind);
  }
  assert.ok(Number(/"tool_timeout_sec":(\d+)/.exec(await text("codex"))?.[1]) >= longest);
  const { svc } = JSON.parse(await read("svc/.mcp.json")).mcpServers;
  assert.ok(svc.timeout >= longest * 1_000);
  assert.equal(svc.alwaysLoad, true);
});

Deno.test("the tools are allowed in advance if the client supports it [set-allowed]", async () => {
  for (const tool of MCP_TOOLS) assert.ok((await text("cc")).includes(`"mcp__plugin_svc_svc__${tool}"`));
  assert.match(await text("gemini"), /"trust":true/);
  assert.match(await text("codex"), /"default_tools_approval_mode":"approve"/);
  assert.match(await text("cursor"), /"Mcp\(svc:\*\)"/);
});

Deno.test("the settings enable the plugin by its names; every hook runs one of its scripts [set-plugin, arch-plugin, remote-cc]", async () => {
  const market = JSON.parse(await read(".claude-plugin/marketplace.json"));
  const plugin = JSON.parse(await read("svc/.claude-plugin/plugin.json"));
  const [enabled] = Object.entries({ [`${plugin.name}@${market.name}`]: true });
  const settings = await text("cc");
  assert.ok(settings.includes(`"value":true`) && settings.includes(String(enabled?.[0])));
  assert.deepEqual(market.plugins.map(({ source }: { source: string }) => source), ["./svc"]);
  const { hooks } = JSON.parse(await read("svc/hooks/hooks.json"));
  assert.match(JSON.stringify(hooks.UserPromptSubmit), /scripts\/svc-remote\.sh/);
  for (const event of Object.keys(hooks).filter((one) => one !== "UserPromptSubmit")) {
    const argument = event === "PermissionRequest" ? "cards" : "gates";
    assert.match(
      JSON.stringify(hooks[event]),
      new RegExp(`scripts/svc.sh\\\\" hook ${event} cc ${argument}"`),
    );
  }
  const awaited = (event: string): boolean => !/"async":true/.test(JSON.stringify(hooks[event]));
  const others = Object.keys(hooks).filter((event) => !awaited(event));
  assert.deepEqual(others, ["PostToolUse", "PostToolUseFailure"], "Claude waits for no end of a tool call");
  for (const script of ["svc.sh", "svc-remote.sh"]) {
    assert.ok(((await Deno.stat(`${CHECKOUT}plugin/svc/scripts/${script}`)).mode ?? 0) & 0o100, script);
  }
});

/** The events before an agent's dialog. */
const GATE_EVENTS: Record<string, readonly string[]> = {
  cc: ["PreToolUse"],
  codex: ["PreToolUse", "PermissionRequest"],
  gemini: ["BeforeTool"],
  copilot: ["preToolUse", "permissionRequest"],
};

Deno.test("each agent's hooks run before its tool calls, with a limit that svc's wait never reaches, and report their end [gate-registered]", async () => {
  const unit: Record<string, number> = { cc: 1_000, codex: 1_000, gemini: 1, copilot: 1_000 };
  for (const [kind, events] of Object.entries(GATE_EVENTS)) {
    const all = kind === "cc" ? await read("svc/hooks/hooks.json") : await text(kind as AgentKind);
    for (const event of events) {
      const entry = new RegExp(`hook ${event} ${kind} (?:gates|cards)"[^}]*?"timeout(?:Sec)?":\\s*(\\d+)`)
        .exec(all);
      assert.ok(Number(entry?.[1]) * (unit[kind] ?? 0) >= 5 * GATE_LIMIT_MS, `${kind} ${event}`);
    }
    assert.match(all, /hook (?:PostToolUse|AfterTool|postToolUse) /);
  }
  const plugin = await read("opencode/svc.js");
  assert.ok(Number(/GATE_LIMIT_MS = ([\d_]+)/.exec(plugin)?.[1]?.replace("_", "")) >= 2 * GATE_LIMIT_MS);
});

/** The events that come with a dialog. */
const CARD_EVENTS: Record<string, readonly string[]> = { ...GATE_EVENTS, cc: ["PermissionRequest"] };

Deno.test("an agent waits longer for a dialog's hook than the hook waits for a phone [card-registered]", async () => {
  for (const [kind, events] of Object.entries(CARD_EVENTS)) {
    const all = kind === "cc" ? await read("svc/hooks/hooks.json") : await text(kind as AgentKind);
    const limit = kind === "gemini" ? 600_000 : 600;
    for (const event of events) {
      const entry = new RegExp(`hook ${event} ${kind} cards"[^}]*?"timeout(?:Sec)?":\\s*(\\d+)`).exec(all);
      assert.equal(Number(entry?.[1]), limit, `${kind} ${event}`);
    }
  }
});

Deno.test("the list of what setup trusts has the events before and after tool calls [set-trust-told]", async () => {
  for (const kind of ["codex", "gemini", "copilot"] as const) {
    const { trusts, finishTrusts = [] } = await setupOf(kind);
    const all = [...finishTrusts, ...trusts].join("\n");
    for (const event of GATE_EVENTS[kind] ?? []) assert.ok(all.includes(event), `${kind} ${event}`);
  }
  for (const kind of ["cc", "opencode"] as const) {
    assert.match((await setupOf(kind)).trusts.join("\n"), /tool call/);
  }
});

Deno.test("the agents' own variables for their directories are used", async () => {
  const paths = async (kind: AgentKind, env: Record<string, string>): Promise<string[]> =>
    (await setupOf(kind, env)).files.flatMap((file) => file.paths);
  const at = async (kind: AgentKind, env: Record<string, string>): Promise<boolean> =>
    (await paths(kind, env)).every((path) => path.startsWith("/x/"));
  assert.ok(await at("cc", { CLAUDE_CONFIG_DIR: "/x" }));
  assert.ok(await at("codex", { CODEX_HOME: "/x" }));
  assert.ok(await at("gemini", { GEMINI_CLI_HOME: "/x" }));
  assert.ok(await at("copilot", { COPILOT_HOME: "/x" }));
  assert.ok(await at("opencode", { XDG_CONFIG_HOME: "/x" }));
});
