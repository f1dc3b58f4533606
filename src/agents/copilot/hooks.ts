/** Hooks of the Copilot command line. */
import type { CardQuestion } from "../../protocol/ask.ts";
import { parseJson } from "../../protocol/json.ts";
import {
  type AgentHooks,
  COMMON_HOOKS,
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
  promptEvent: "userPromptSubmitted",
  sessionOf: (input) => textOf(input, "sessionId"),
  meaning,
  dialogOf,
  answerOutput,
  // Unlike the other agents, it ignores `hookSpecificOutput`.
  contextOutput: (_event, additionalContext) => JSON.stringify({ additionalContext }),
  transcript: { pathOf: (input) => textOf(input, "transcriptPath"), lastMessage },
};

function meaning(event: string, input: HookInput): HookMeaning {
  switch (event) {
    case "preToolUse":
      return workingAt(toolStep("before", input));
    // Also sent before tools that need no permission: it sets no state.
    case "permissionRequest":
      return { tool: toolStep("before", input) };
    case "postToolUse":
      return { tool: toolStep("after", input) };
    case "notification":
      if (textOf(input, "notification_type") !== "permission_prompt") return {};
      return { state: "waiting", notification: { type: "agent.attention", text: textOf(input, "message") } };
    case "agentStop":
      return { state: "idle", notification: { type: "agent.stop", text: undefined } };
    case "sessionEnd":
      return { session: "ended" };
    default:
      return {};
  }
}

/** The transcript has one event per line. A message of an earlier turn is ignored. */
function lastMessage(text: string): string | undefined {
  const lines = text.trimEnd().split("\n");
  for (const line of lines.reverse()) {
    if (line.includes('"user.message"')) return undefined;
    if (!line.includes('"assistant.message"')) continue;
    const event = parseJson(line)?.value;
    if (typeof event !== "object" || event === null) continue;
    const content = textOf(objectOf({ ...event }, "data"), "content");
    if (content !== undefined) return content;
  }
  return undefined;
}

/** Copilot opens its dialogs only after these hooks have ended. */
function dialogOf(event: string, input: HookInput): DialogCall | undefined {
  const tool = textOf(input, "toolName");
  switch (event) {
    case "preToolUse":
      return tool === "ask_user" ? questionsCall(questionsIn(input), false) : undefined;
    case "permissionRequest": {
      const asked = recordOf(input.toolInput);
      if (tool === undefined || asked === undefined || onlyReads(asked)) return undefined;
      const request = requestText(asked);
      return { dialog: { kind: "approval", tool, request, decisions: ["once", "reject"] }, isShown: false };
    }
    default:
      return undefined;
  }
}

/** Commands that Copilot runs without asking, although it runs its permission hook for them: no phone is asked. */
const READS =
  /^\s*(?:ls|cat|head|tail|wc|pwd|echo|grep|rg|which|stat|file|git (?:status|log|diff|show))\b[^\n;&|<>`$()]*$/;

function onlyReads(asked: HookInput): boolean {
  const command = textOf(asked, "command");
  return command?.split("|").every((part) => READS.test(part)) ?? false;
}

/** It asks one question at a time. */
function questionsIn(input: HookInput): CardQuestion[] | undefined {
  const { question, choices = [], allow_freeform } = objectOf(input, "toolArgs");
  const questions = [{ question, options: choices }];
  return questionsOf({ questions }, () => ({ freeText: allow_freeform !== false }));
}

/** The hook cannot answer a question, only refuse it, with the answer as the reason. */
function answerOutput({ input }: { input: HookInput }, answer: DialogAnswer): string {
  if (answer.kind === "answers") {
    const permissionDecisionReason = refusalWithAnswers(questionsIn(input), answer.answers);
    return JSON.stringify({ permissionDecision: "deny", permissionDecisionReason });
  }
  const isRejection = answer.decision === "reject";
  return JSON.stringify(
    isRejection ? { behavior: "deny", message: reasonOf(answer) } : { behavior: "allow" },
  );
}
