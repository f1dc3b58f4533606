/** Agent 2, the Gemini command line: hooks and MCP server stand in its settings. */
import {
  HOOK_LIMIT_SECONDS,
  hookCommand,
  MCP_SERVER,
  MCP_TOOLS,
  remoteHookCommand,
  TOOL_LIMIT_MS,
} from "./registered.ts";
import type { AgentSetup, SetupPlace } from "./types.ts";

const PROMPT_EVENT = "BeforeAgent";
const EVENTS = ["SessionStart", "Notification", "AfterAgent", "SessionEnd"] as const;

export function setUpGemini({ home, env, launcher }: SetupPlace): AgentSetup {
  const directory = `${env.GEMINI_CLI_HOME || home}/.gemini`;
  const group = (event: string, command: string): unknown => ({
    // Its unit is the millisecond.
    hooks: [{ name: `svc-${event}`, type: "command", command, timeout: HOOK_LIMIT_SECONDS * 1_000 }],
  });
  const list = (event: string, command: string) => ({
    at: ["hooks", event],
    values: [group(event, command)],
  });
  return {
    files: [{
      form: "json",
      paths: [`${directory}/settings.json`],
      append: [
        list(PROMPT_EVENT, remoteHookCommand(launcher, "gemini")),
        ...EVENTS.map((event) => list(event, hookCommand(launcher, "gemini", event))),
      ],
      set: [{
        at: ["mcpServers", MCP_SERVER],
        value: { command: launcher, args: ["mcp"], timeout: TOOL_LIMIT_MS, trust: true },
      }],
    }],
    trusts: [
      `hooks that run "${launcher}" at ${[PROMPT_EVENT, ...EVENTS].join(", ")}`,
      `the MCP server svc with "trust": its tools ${MCP_TOOLS.join(", ")} run without a question`,
    ],
    notes: [],
  };
}
