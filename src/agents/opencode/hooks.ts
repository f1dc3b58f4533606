/** What svc's plugin for OpenCode reports; the plugin defines the form of its messages. */
import {
  type AgentHooks,
  type HookInput,
  type HookMeaning,
  plainPrompt,
  textOf,
  toolStep,
  workingAt,
} from "../hooks.ts";

export const hooks: AgentHooks = {
  promptEvent: "chat.message",
  sessionOf: (input) => textOf(input, "session_id"),
  directoryOf: (input) => textOf(input, "cwd"),
  promptOf: plainPrompt,
  isFromMachine: () => false,
  meaning,
  contextOutput: (_event, additionalContext) => JSON.stringify({ additionalContext }),
};

function meaning(event: string, input: HookInput): HookMeaning {
  switch (event) {
    case "tool.execute.before":
      return workingAt(toolStep("before", input, "call_id"));
    case "tool.execute.after":
      return { tool: toolStep("after", input, "call_id") };
    case "permission.asked":
      return { state: "waiting", notification: { type: "agent.attention", text: textOf(input, "message") } };
    case "session.idle":
      return { state: "idle", notification: { type: "agent.stop", text: textOf(input, "last_message") } };
    case "session.compacted":
      return { session: "compacted" };
    case "session.deleted":
      return { session: "ended" };
    default:
      return {};
  }
}
