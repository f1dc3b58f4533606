/** Hooks of agent 1, the primary agent. */
import type { CardAnswer, CardQuestion, Decision } from "../../protocol/ask.ts";
import {
  type AgentHooks,
  answersTo,
  COMMON_HOOKS,
  type DialogAnswer,
  type DialogCall,
  type HookInput,
  type HookMeaning,
  objectOf,
  plainPrompt,
  questionsCall,
  questionsOf,
  reasonOf,
  recordOf,
  requestText,
  textOf,
  toolStep,
  workingAt,
} from "../hooks.ts";

/** A report of a background task, for older versions, whose input lacks the prompt's source. */
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
  dialogOf,
  answerOutput,
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

/** Sent some seconds after a dialog opened, unless the local user has reacted to it, who then needs no push. */
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

const QUESTIONS = "AskUserQuestion";
const PLAN = "ExitPlanMode";
const PERMISSION = "PermissionRequest";

/** Claude runs this hook while its dialog is open, for questions and plans too. Its input has no id of the call. */
function dialogOf(event: string, input: HookInput): DialogCall | undefined {
  const tool = textOf(input, "tool_name");
  const asked = recordOf(input.tool_input);
  if (event !== PERMISSION || tool === undefined || asked === undefined) return undefined;
  if (tool === QUESTIONS) return questionsCall(questionsIn(asked), true);
  const isPlan = tool === PLAN;
  const request = isPlan ? planOf(asked) : requestText(asked, lastingOf(input));
  if (request === undefined) return undefined;
  const decisions: Decision[] = isPlan || lastingOf(input) === undefined
    ? ["once", "reject"]
    : ["once", "always", "reject"];
  return { dialog: { kind: "approval", tool, request, decisions }, isShown: true };
}

/** The plan, and whatever else the permission would allow, but not the path of the plan's file. */
function planOf({ planFilePath: _kept, ...asked }: HookInput): string | undefined {
  const plan = textOf(asked, "plan");
  return plan === undefined || Object.keys(asked).length === 1 ? plan : requestText(asked);
}

/** Undefined if two questions have the same text, by which Claude assigns the answers. */
function questionsIn(asked: HookInput): CardQuestion[] | undefined {
  const questions = questionsOf(
    asked,
    ({ multiSelect }) => ({ multiple: multiSelect === true, freeText: true }),
  );
  const texts = new Set(questions?.map(({ text }) => text));
  return texts.size === questions?.length ? questions : undefined;
}

const LASTING_TYPES: readonly unknown[] = ["addRules", "addDirectories", "setMode"];

/** The change that the dialog offers as "don't ask again": the first suggestion. */
function lastingOf({ permission_suggestions }: HookInput): HookInput | undefined {
  const first = Array.isArray(permission_suggestions) ? recordOf(permission_suggestions[0]) : undefined;
  if (first === undefined || !LASTING_TYPES.includes(first.type)) return undefined;
  const isNarrow = first.type === "setMode" ? first.mode === "acceptEdits" : first.behavior !== "deny";
  return isNarrow ? first : undefined;
}

function answerOutput({ input }: { input: HookInput }, answer: DialogAnswer): string {
  const decision = answer.kind === "answers" ? answered(input, answer.answers) : decided(input, answer);
  return JSON.stringify({ hookSpecificOutput: { hookEventName: PERMISSION, decision } });
}

function answered(input: HookInput, answers: readonly CardAnswer[]): Readonly<Record<string, unknown>> {
  const asked = objectOf(input, "tool_input");
  const questions = questionsIn(asked) ?? [];
  const given = answersTo(questions, answers);
  const byText = Object.fromEntries(questions.map(({ text }, place) => [text, given[place]?.join(", ")]));
  return { behavior: "allow", updatedInput: { ...asked, answers: byText } };
}

function decided(
  input: HookInput,
  answer: DialogAnswer & { kind: "decided" },
): Readonly<Record<string, unknown>> {
  switch (answer.decision) {
    case "reject":
      return { behavior: "deny", message: reasonOf(answer) };
    case "always":
      return { behavior: "allow", updatedPermissions: [lastingOf(input)] };
    case "once":
      // Claude ignores a bare permission to leave the plan mode.
      return textOf(input, "tool_name") === PLAN
        ? { behavior: "allow", updatedInput: objectOf(input, "tool_input") }
        : { behavior: "allow" };
  }
}
