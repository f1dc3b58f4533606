/** Hooks of agent 2, the Gemini command line. */
import {
  type AgentHooks,
  COMMON_HOOKS,
  type HookInput,
  type HookMeaning,
  objectOf,
  textOf,
  toolStep,
  workingAt,
} from "../hooks.ts";

export const hooks: AgentHooks = {
  ...COMMON_HOOKS,
  promptEvent: "BeforeAgent",
  meaning,
  // Plain text never reaches this model.
  contextOutput: (_event, additionalContext) => JSON.stringify({ hookSpecificOutput: { additionalContext } }),
};

function meaning(event: string, input: HookInput): HookMeaning {
  switch (event) {
    case "SessionStart":
      return { state: "idle" };
    case "BeforeTool":
      return workingAt(toolStep("before", input));
    case "AfterTool":
      return { tool: toolStep("after", input) };
    case "Notification":
      if (textOf(input, "notification_type") !== "ToolPermission") return {};
      return { state: "waiting", notification: { type: "agent.attention", text: permission(input) } };
    case "AfterAgent":
      return { state: "idle", notification: { type: "agent.stop", text: textOf(input, "prompt_response") } };
    case "SessionEnd":
      return { session: "ended" };
    default:
      return {};
  }
}

function permission(input: HookInput): string | undefined {
  const message = textOf(input, "message");
  const command = textOf(objectOf(input, "details"), "command");
  return command === undefined ? message : `${message ?? "Tool permission"}: ${command}`;
}
