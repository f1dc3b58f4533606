/** Reads the reports of svc's plugin for OpenCode, which defines the form of its messages. */
import type { CardQuestion, Decision } from "../../protocol/ask.ts";
import {
  type AgentHooks,
  answersTo,
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
  requestText,
  textOf,
  toolStep,
  workingAt,
} from "../hooks.ts";

export const hooks: AgentHooks = {
  ...COMMON_HOOKS,
  promptEvent: "chat.message",
  hasSeveralConversations: true,
  meaning,
  dialogOf,
  answerOutput,
  contextOutput: (_event, additionalContext) => JSON.stringify({ additionalContext }),
};

function meaning(event: string, input: HookInput): HookMeaning {
  switch (event) {
    case "tool.execute.before":
      return workingAt(toolStep("before", input, "call_id"));
    case "tool.execute.after":
      return { tool: toolStep("after", input, "call_id") };
    case "permission.asked":
    case "question.asked":
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

/** The dialog is shown while the hook runs. The plugin passes the event in `request` and the tool's input in `args`. */
function dialogOf(event: string, input: HookInput): DialogCall | undefined {
  const asked = objectOf(input, "request");
  switch (event) {
    case "question.asked":
      return questionsCall(questionsIn(asked), true);
    case "permission.asked":
      return approvalOf(asked, recordOf(input.args));
    default:
      return undefined;
  }
}

function questionsIn(asked: HookInput): CardQuestion[] | undefined {
  return questionsOf(asked, ({ multiple, custom }) => ({
    multiple: multiple === true,
    freeText: custom !== false,
  }));
}

/** The event describes the permission by patterns; what the tool will do is in its arguments. */
function approvalOf(asked: HookInput, args: HookInput | undefined): DialogCall | undefined {
  const tool = textOf(asked, "permission");
  if (tool === undefined || args === undefined) return undefined;
  const { patterns, metadata, always } = asked;
  const lasting = Array.isArray(always) && always.length > 0
    ? { permission: tool, patterns: always }
    : undefined;
  const decisions: Decision[] = lasting === undefined ? ["once", "reject"] : ["once", "always", "reject"];
  const request = [requestText(args), requestText({ permission: tool, patterns, metadata }, lasting)].join(
    "\n",
  );
  return { dialog: { kind: "approval", tool, request, decisions }, isShown: true };
}

/** The body of the plugin's request to OpenCode. */
function answerOutput({ input }: { input: HookInput }, answer: DialogAnswer): string {
  if (answer.kind === "answers") {
    const answers = answersTo(questionsIn(objectOf(input, "request")) ?? [], answer.answers);
    return JSON.stringify({ reply: { answers } });
  }
  const { decision } = answer;
  const reply = decision === "reject" ? { reply: decision, message: reasonOf(answer) } : { reply: decision };
  return JSON.stringify({ reply });
}
