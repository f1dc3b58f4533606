/** Hooks of agent 3, the Codex command line. */
import {
  type AgentHooks,
  COMMON_HOOKS,
  describeTool,
  type HookInput,
  type HookMeaning,
  textOf,
  toolStep,
  workingAt,
} from "../hooks.ts";

export const hooks: AgentHooks = {
  ...COMMON_HOOKS,
  promptEvent: "UserPromptSubmit",
  meaning,
  contextOutput: (hookEventName, additionalContext) =>
    JSON.stringify({ hookSpecificOutput: { hookEventName, additionalContext } }),
};

function meaning(event: string, input: HookInput): HookMeaning {
  switch (event) {
    // Sent with the first prompt, not at the start: it sets no state.
    case "SessionStart":
      return textOf(input, "source") === "compact" ? { session: "compacted" } : {};
    case "PreToolUse":
      return workingAt(toolStep("before", input, "tool_use_id"));
    case "PostToolUse":
      return { tool: toolStep("after", input, "tool_use_id") };
    case "PermissionRequest":
      return permission(input);
    case "Stop":
      return {
        state: "idle",
        notification: { type: "agent.stop", text: textOf(input, "last_assistant_message") },
      };
    case "Interrupt":
      return { state: "idle" };
    case "SessionEnd":
      return { session: "ended" };
    default:
      return {};
  }
}

/** Codex waits for this hook before it opens the dialog. */
function permission(input: HookInput): HookMeaning {
  return {
    state: "waiting",
    notification: { type: "agent.attention", text: describeTool(input) },
    tool: toolStep("before", input, "tool_use_id"),
  };
}
