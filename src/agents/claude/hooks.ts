/** Hooks of agent 1, the primary agent. */
import {
  type AgentHooks,
  COMMON_HOOKS,
  type HookInput,
  type HookMeaning,
  objectOf,
  plainPrompt,
  textOf,
  toolStep,
  workingAt,
} from "../hooks.ts";

/** A report of a background task: older versions do not say who wrote a prompt. */
const MACHINE_PROMPT = /^\s*<task-notification>/;

export const hooks: AgentHooks = {
  ...COMMON_HOOKS,
  promptEvent: "UserPromptSubmit",
  promptOf(input) {
    const prompt = plainPrompt(input);
    return prompt === undefined ? undefined : unescaped(unfolded(prompt));
  },
  isFromMachine(input) {
    const source = textOf(input, "source");
    if (source !== undefined) return source !== "user" && source !== "sdk";
    return MACHINE_PROMPT.test(textOf(input, "prompt") ?? "");
  },
  meaning,
  contextOutput: (hookEventName, additionalContext) =>
    JSON.stringify({ hookSpecificOutput: { hookEventName, additionalContext } }),
};

/** A prompt that is a single paste of several lines, or of about 850 characters or more. */
const FOLDED = /^\n\n<pasted_content id="(\w+)">\n([^]*)\n<\/pasted_content id="\1">\n$/;

function unfolded(prompt: string): string {
  const text = FOLDED.exec(prompt)?.[2];
  const isOnePaste = text !== undefined && !/<\/?pasted_content/.test(text);
  return isOnePaste ? text : prompt;
}

/** Claude escapes typed text that looks like its own marks with a backslash. */
function unescaped(text: string): string {
  return text.replace(/<\\(?=\/?pasted_content)/g, "<");
}

function meaning(event: string, input: HookInput): HookMeaning {
  switch (event) {
    case "SessionStart":
      return textOf(input, "source") === "compact" ? { session: "compacted" } : { state: "idle" };
    case "PreToolUse":
      return workingAt(toolStep("before", input, "tool_use_id"));
    case "PostToolUse":
    case "PostToolUseFailure":
    case "PermissionDenied":
      return { tool: toolStep("after", input, "tool_use_id") };
    case "PermissionRequest":
      return { state: "waiting" };
    case "Notification":
      return notification(input);
    case "Elicitation":
      return { state: "waiting", notification: { type: "agent.attention", text: textOf(input, "message") } };
    case "Stop":
      return {
        state: "idle",
        notification: { type: "agent.stop", text: textOf(input, "last_assistant_message") },
      };
    case "StopFailure":
      return { state: "idle", notification: { type: "agent.stop", text: failure(input) } };
    case "SessionEnd":
      return { session: "ended" };
    default:
      return {};
  }
}

/** Sent some seconds after a dialog opened if nobody has touched it: the local user needs no push. */
function notification(input: HookInput): HookMeaning {
  const notification = { type: "agent.attention", text: textOf(input, "message") } as const;
  switch (textOf(input, "notification_type")) {
    case "permission_prompt":
    case "worker_permission_prompt":
    case "agent_needs_input":
      return { state: "waiting", notification };
    case "idle_prompt":
      return { state: "idle", notification };
    default:
      return {};
  }
}

function failure(input: HookInput): string | undefined {
  return textOf(input, "error_details") ?? textOf(input, "error") ??
    textOf(objectOf(input, "error"), "message");
}
