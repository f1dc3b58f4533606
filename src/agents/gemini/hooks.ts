/** Hooks of agent 2, the Gemini command line. */
import type { CardQuestion } from "../../protocol/ask.ts";
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
  refusalWithAnswers,
  textOf,
  toolStep,
  workingAt,
} from "../hooks.ts";

export const hooks: AgentHooks = {
  ...COMMON_HOOKS,
  promptEvent: "BeforeAgent",
  meaning,
  dialogOf,
  answerOutput,
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

/** Also called for tools that need no permission: only a question is certainly a dialog. */
function dialogOf(event: string, input: HookInput): DialogCall | undefined {
  if (event !== "BeforeTool" || textOf(input, "tool_name") !== "ask_user") return undefined;
  return questionsCall(questionsIn(input), false);
}

const YES_NO: CardQuestion["options"] = [{ label: "Yes" }, { label: "No" }];

/** Undefined if one is of a type that svc does not know. */
function questionsIn(input: HookInput): CardQuestion[] | undefined {
  const asked = objectOf(input, "tool_input");
  const list: unknown[] = Array.isArray(asked.questions) ? asked.questions : [];
  const types = list.map((question) => objectOf({ question }, "question").type ?? "choice");
  if (!types.every((type) => typeof type === "string" && TYPES.includes(type))) return undefined;
  const questions = questionsOf(
    asked,
    ({ type, multiSelect }) => ({
      multiple: type !== "yesno" && multiSelect === true,
      freeText: type !== "yesno",
    }),
  );
  return questions?.map((question, place) =>
    types[place] === "yesno" ? { ...question, options: YES_NO } : question
  );
}

const TYPES: readonly string[] = ["choice", "text", "yesno"];

/** The hook cannot answer a question, only refuse it, with the answer as the reason. */
function answerOutput({ input }: { input: HookInput }, answer: DialogAnswer): string {
  const answers = answer.kind === "answers" ? answer.answers : [];
  return JSON.stringify({ decision: "deny", reason: refusalWithAnswers(questionsIn(input), answers) });
}
