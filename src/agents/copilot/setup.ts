/** The Copilot command line: hooks in their own file, the MCP server in its list. */
import {
  type AgentSetup,
  appendHooks,
  eventNames,
  type HookEvents,
  MCP_SERVER,
  MCP_TOOLS,
  type SetupContext,
  TOOL_LIMIT_MS,
} from "../setup.ts";

const EVENTS: HookEvents = {
  prompt: "userPromptSubmitted",
  reports: ["postToolUse", "notification", "agentStop", "sessionEnd"],
  // Only the first one runs for questions.
  gates: ["preToolUse", "permissionRequest"],
};

export function setUp({ home, env, launcher }: SetupContext): AgentSetup {
  const directory = env.COPILOT_HOME || `${home}/.copilot`;
  const hooks = appendHooks(
    { kind: "copilot", launcher, events: EVENTS },
    ({ command, limitSeconds }) => ({ type: "command", bash: command, timeoutSec: limitSeconds }),
  );
  const server = { type: "local", command: launcher, args: ["mcp"], tools: ["*"], timeout: TOOL_LIMIT_MS };
  return {
    files: [{
      form: "json",
      paths: [`${directory}/hooks/svc.json`],
      initial: { version: 1 },
      append: hooks,
    }, {
      form: "json",
      paths: [`${directory}/mcp-config.json`],
      set: [{ at: ["mcpServers", MCP_SERVER], value: server }],
    }],
    backgroundEvents: ["postToolUse"],
    trusts: [
      `hooks that run "${launcher}" at ${eventNames(EVENTS)}`,
      `in sessions started by "svc copilot", the tools ${MCP_TOOLS.join(", ")} run without asking`,
    ],
    notes: [],
  };
}
