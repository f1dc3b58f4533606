/** The Copilot command line: hooks in a file of their own, the MCP server in its list. */
import {
  type AgentSetup,
  GATE_HOOK_LIMIT_SECONDS,
  HOOK_LIMIT_SECONDS,
  hookCommand,
  MCP_SERVER,
  MCP_TOOLS,
  remoteHookCommand,
  type SetupContext,
  TOOL_LIMIT_MS,
} from "../setup.ts";

const PROMPT_EVENT = "userPromptSubmitted";
const EVENTS = ["postToolUse", "notification", "agentStop", "sessionEnd"] as const;
/** Copilot waits for these before a tool runs and before its dialog opens; questions come only with the first. */
const GATE_EVENTS = ["preToolUse", "permissionRequest"] as const;

export function setUp({ home, env, launcher }: SetupContext): AgentSetup {
  const directory = env.COPILOT_HOME || `${home}/.copilot`;
  const list = (event: string, bash: string, timeoutSec = HOOK_LIMIT_SECONDS) => ({
    at: ["hooks", event],
    values: [{ type: "command", bash, timeoutSec }],
  });
  const server = { type: "local", command: launcher, args: ["mcp"], tools: ["*"], timeout: TOOL_LIMIT_MS };
  return {
    files: [{
      form: "json",
      paths: [`${directory}/hooks/svc.json`],
      initial: { version: 1 },
      append: [
        list(PROMPT_EVENT, remoteHookCommand(launcher, "copilot")),
        ...EVENTS.map((event) => list(event, hookCommand(launcher, "copilot", event))),
        ...GATE_EVENTS.map((event) =>
          list(event, hookCommand(launcher, "copilot", event), GATE_HOOK_LIMIT_SECONDS)
        ),
      ],
    }, {
      form: "json",
      paths: [`${directory}/mcp-config.json`],
      set: [{ at: ["mcpServers", MCP_SERVER], value: server }],
    }],
    backgroundEvents: ["postToolUse"],
    trusts: [
      `hooks that run "${launcher}" at ${[PROMPT_EVENT, ...EVENTS, ...GATE_EVENTS].join(", ")}`,
      `in sessions started by "svc copilot", the tools ${MCP_TOOLS.join(", ")} run without asking`,
    ],
    notes: [],
  };
}
