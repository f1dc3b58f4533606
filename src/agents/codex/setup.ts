/** Agent 3, the Codex command line: hooks in a file of their own, which Codex runs once they are trusted. */
import { trustCodexHooks } from "./trust.ts";
import {
  type AgentSetup,
  GATE_HOOK_LIMIT_SECONDS,
  HOOK_LIMIT_SECONDS,
  hookCommand,
  MCP_SERVER,
  MCP_TOOLS,
  remoteHookCommand,
  type SetupContext,
  TOOL_LIMIT_SECONDS,
} from "../setup.ts";

const PROMPT_EVENT = "UserPromptSubmit";
const EVENTS = ["SessionStart", "PostToolUse", "Stop", "Interrupt", "SessionEnd"] as const;
/** Codex waits for these before a tool runs and before its dialog opens; questions come only with the first. */
const GATE_EVENTS = ["PreToolUse", "PermissionRequest"] as const;
/** Codex passes only a few variables to MCP servers. */
const HANDED_DOWN = ["SVC_SESSION", "SVC_HOME"];
const START_LIMIT_SECONDS = 30;

export function setUp({ home, env, launcher }: SetupContext): AgentSetup {
  const directory = env.CODEX_HOME || `${home}/.codex`;
  const list = (event: string, command: string, timeout = HOOK_LIMIT_SECONDS) => ({
    at: ["hooks", event],
    values: [{ hooks: [{ type: "command", command, timeout }] }],
  });
  return {
    files: [{
      form: "json",
      paths: [`${directory}/hooks.json`],
      append: [
        list(PROMPT_EVENT, remoteHookCommand(launcher, "codex")),
        ...EVENTS.map((event) => list(event, hookCommand(launcher, "codex", event))),
        ...GATE_EVENTS.map((event) =>
          list(event, hookCommand(launcher, "codex", event), GATE_HOOK_LIMIT_SECONDS)
        ),
      ],
    }, {
      form: "toml",
      paths: [`${directory}/config.toml`],
      table: ["mcp_servers", MCP_SERVER],
      entries: {
        command: launcher,
        args: ["mcp"],
        env_vars: HANDED_DOWN,
        startup_timeout_sec: START_LIMIT_SECONDS,
        tool_timeout_sec: TOOL_LIMIT_SECONDS,
        default_tools_approval_mode: "approve",
      },
    }],
    backgroundEvents: ["PostToolUse"],
    trusts: [
      `hooks that run "${launcher}" at ${
        [PROMPT_EVENT, ...EVENTS, ...GATE_EVENTS].join(", ")
      }, marked as reviewed by you`,
      `the MCP server svc: its tools ${MCP_TOOLS.join(", ")} run without asking`,
    ],
    notes: [],
    finish: (host) => trustCodexHooks(host, directory),
  };
}
