/** Hooks of agent 3, the Codex command line. */
import type { CardQuestion } from "../../protocol/ask.ts";
import {
  type AgentHooks,
  COMMON_HOOKS,
  describeTool,
  type DialogAnswer,
  type DialogCall,
  type HookInput,
  type HookMeaning,
  objectOf,
  questionsCall,
  questionsOf,
  reasonOf,
  recordOf,
  refusalWithAnswers,
  requestText,
  textOf,
  toolStep,
  workingAt,
} from "../hooks.ts";

export const hooks: AgentHooks = {
  ...COMMON_HOOKS,
  promptEvent: "UserPromptSubmit",
  meaning,
  dialogOf,
  answerOutput,
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

/** Codex opens its dialogs only after these hooks have ended. A question has no separate event. */
function dialogOf(event: string, input: HookInput): DialogCall | undefined {
  const tool = textOf(input, "tool_name");
  const asked = recordOf(input.tool_input);
  if (tool === undefined || asked === undefined) return undefined;
  switch (event) {
    case "PreToolUse":
      return tool === "request_user_input" ? questionsCall(questionsIn(asked), false) : undefined;
    case "PermissionRequest": {
      const request = requestText(asked);
      return { dialog: { kind: "approval", tool, request, decisions: ["once", "reject"] }, isShown: false };
    }
    default:
      return undefined;
  }
}

function questionsIn(asked: HookInput): CardQuestion[] | undefined {
  return questionsOf(asked, () => ({ freeText: true }));
}

/** The hook cannot answer a question, only refuse it, with the answer as the reason. */
function answerOutput(
  { event, input }: { event: string; input: HookInput },
  answer: DialogAnswer,
): string {
  return JSON.stringify({ hookSpecificOutput: { hookEventName: event, ...answered(input, answer) } });
}

function answered(input: HookInput, answer: DialogAnswer): Readonly<Record<string, unknown>> {
  if (answer.kind === "answers") {
    const questions = questionsIn(objectOf(input, "tool_input"));
    const permissionDecisionReason = refusalWithAnswers(questions, answer.answers);
    return { permissionDecision: "deny", permissionDecisionReason };
  }
  const isRejection = answer.decision === "reject";
  return {
    decision: isRejection ? { behavior: "deny", message: reasonOf(answer) } : { behavior: "allow" },
  };
}
