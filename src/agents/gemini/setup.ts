/** Agent 2, the Gemini command line: hooks and the MCP server are in its settings. */
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
  prompt: "BeforeAgent",
  reports: ["SessionStart", "AfterTool", "Notification", "AfterAgent", "SessionEnd"],
  // Before a tool runs, and therefore before its dialog.
  gates: ["BeforeTool"],
};

export function setUp({ home, env, launcher }: SetupContext): AgentSetup {
  const directory = `${env.GEMINI_CLI_HOME || home}/.gemini`;
  const hooks = appendHooks(
    { kind: "gemini", launcher, events: EVENTS },
    ({ event, command, limitSeconds }) => ({
      // In milliseconds.
      hooks: [{ name: `svc-${event}`, type: "command", command, timeout: limitSeconds * 1_000 }],
    }),
  );
  return {
    files: [{
      form: "json",
      paths: [`${directory}/settings.json`],
      append: hooks,
      set: [{
        at: ["mcpServers", MCP_SERVER],
        value: { command: launcher, args: ["mcp"], timeout: TOOL_LIMIT_MS, trust: true },
      }],
    }],
    backgroundEvents: ["AfterTool"],
    trusts: [
      `hooks that run "${launcher}" at ${eventNames(EVENTS)}`,
      `the MCP server svc with "trust": its tools ${MCP_TOOLS.join(", ")} run without asking`,
    ],
    notes: [],
  };
}
