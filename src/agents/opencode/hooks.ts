/** What svc's plugin for OpenCode reports; the plugin defines the form of its messages. */
import {
  type AgentHooks,
  COMMON_HOOKS,
  type HookInput,
  type HookMeaning,
  textOf,
  toolStep,
  workingAt,
} from "../hooks.ts";

export const hooks: AgentHooks = {
  ...COMMON_HOOKS,
  promptEvent: "chat.message",
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
