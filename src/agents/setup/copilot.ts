/** The Copilot command line: hooks in a file of their own, the MCP server in its list. */
import {
  HOOK_LIMIT_SECONDS,
  hookCommand,
  MCP_SERVER,
  MCP_TOOLS,
  remoteHookCommand,
  TOOL_LIMIT_MS,
} from "./registered.ts";
import type { AgentSetup, SetupPlace } from "./types.ts";

const PROMPT_EVENT = "userPromptSubmitted";
const EVENTS = ["notification", "agentStop", "sessionEnd"] as const;

export function setUpCopilot({ home, env, launcher }: SetupPlace): AgentSetup {
  const directory = env.COPILOT_HOME || `${home}/.copilot`;
  const list = (event: string, bash: string) => ({
    at: ["hooks", event],
    values: [{ type: "command", bash, timeoutSec: HOOK_LIMIT_SECONDS }],
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
      ],
    }, {
      form: "json",
      paths: [`${directory}/mcp-config.json`],
      set: [{ at: ["mcpServers", MCP_SERVER], value: server }],
    }],
    trusts: [
      `hooks that run "${launcher}" at ${[PROMPT_EVENT, ...EVENTS].join(", ")}`,
      `in sessions started by "svc copilot", the tools ${MCP_TOOLS.join(", ")} run without a question`,
    ],
    notes: [],
  };
}
