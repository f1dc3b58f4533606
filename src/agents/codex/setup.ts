/** Agent 3, the Codex command line: hooks in their own file, which Codex runs once they are trusted. */
import { NETWORK_VARIABLES } from "../../runtime/system.ts";
import { trustCodexHooks } from "./trust.ts";
import {
  type AgentSetup,
  appendHooks,
  eventNames,
  type HookEvents,
  MCP_SERVER,
  MCP_TOOLS,
  type SetupContext,
  TOOL_LIMIT_SECONDS,
} from "../setup.ts";

const EVENTS: HookEvents = {
  prompt: "UserPromptSubmit",
  reports: ["SessionStart", "PostToolUse", "Stop", "Interrupt", "SessionEnd"],
  // Only the first one runs for questions.
  gates: ["PreToolUse", "PermissionRequest"],
};
/** Codex passes only a few variables to MCP servers. Without these, svc mcp may not reach the listener's relay. */
const HANDED_DOWN = [
  ...["SVC_SESSION", "SVC_HOME", "SVC_WS_URL", "SVC_API_KEY"],
  // By the pane, svc mcp finds the session's current name.
  ...["TMUX", "TMUX_PANE"],
  ...NETWORK_VARIABLES,
];
const START_LIMIT_SECONDS = 30;

export function setUp({ home, env, launcher }: SetupContext): AgentSetup {
  const directory = env.CODEX_HOME || `${home}/.codex`;
  const hooks = appendHooks(
    { kind: "codex", launcher, events: EVENTS },
    ({ command, limitSeconds }) => ({ hooks: [{ type: "command", command, timeout: limitSeconds }] }),
  );
  return {
    files: [{
      form: "json",
      paths: [`${directory}/hooks.json`],
      append: hooks,
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
    trusts: [`the MCP server svc: its tools ${MCP_TOOLS.join(", ")} run without asking`],
    finishTrusts: [`hooks that run "${launcher}" at ${eventNames(EVENTS)}, marked as reviewed by you`],
    notes: [],
    finish: (host) => trustCodexHooks(host, directory),
  };
}
