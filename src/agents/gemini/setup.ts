/** Agent 2, the Gemini command line: hooks and the MCP server are in its settings. */
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

const PROMPT_EVENT = "BeforeAgent";
const EVENTS = ["SessionStart", "AfterTool", "Notification", "AfterAgent", "SessionEnd"] as const;
/** Gemini waits for this before a tool runs, and therefore before its dialog. */
const GATE_EVENT = "BeforeTool";

export function setUp({ home, env, launcher }: SetupContext): AgentSetup {
  const directory = `${env.GEMINI_CLI_HOME || home}/.gemini`;
  const list = (event: string, command: string, limitSeconds = HOOK_LIMIT_SECONDS) => ({
    at: ["hooks", event],
    // In milliseconds.
    values: [{ hooks: [{ name: `svc-${event}`, type: "command", command, timeout: limitSeconds * 1_000 }] }],
  });
  return {
    files: [{
      form: "json",
      paths: [`${directory}/settings.json`],
      append: [
        list(PROMPT_EVENT, remoteHookCommand(launcher, "gemini")),
        ...EVENTS.map((event) => list(event, hookCommand(launcher, "gemini", event))),
        list(GATE_EVENT, hookCommand(launcher, "gemini", GATE_EVENT), GATE_HOOK_LIMIT_SECONDS),
      ],
      set: [{
        at: ["mcpServers", MCP_SERVER],
        value: { command: launcher, args: ["mcp"], timeout: TOOL_LIMIT_MS, trust: true },
      }],
    }],
    backgroundEvents: ["AfterTool"],
    trusts: [
      `hooks that run "${launcher}" at ${[PROMPT_EVENT, ...EVENTS, GATE_EVENT].join(", ")}`,
      `the MCP server svc with "trust": its tools ${MCP_TOOLS.join(", ")} run without asking`,
    ],
    notes: [],
  };
}
