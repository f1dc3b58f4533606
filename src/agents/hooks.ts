/**
 * The interface of an agent's hooks: what svc reads from their input, and what the kinds share to read it, to show their
 * agent's own dialog on a phone and to pass on the answer.
 */
import type { CardAnswer, CardQuestion, Decision } from "../protocol/ask.ts";
import type { AgentState } from "../protocol/session.ts";

/** The JSON object that an agent gives its hook on stdin. Its fields are not trusted. */
export type HookInput = Readonly<Record<string, unknown>>;

/** A notification for the phones, with the text as the agent wrote it. */
export interface HookNotification {
  type: "agent.stop" | "agent.attention";
  text: string | undefined;
}

/** A tool call begins, and may open a dialog, or has ended. */
export interface ToolStep {
  step: "before" | "after";
  /** The agent's own id, if it has one. */
  id?: string;
  /** A subagent's call, which may continue after the turn of the agent that started it has ended. */
  subagent?: true;
}

/** The effects of an event; no field is set if it has none. */
export interface HookMeaning {
  state?: AgentState;
  notification?: HookNotification;
  tool?: ToolStep;
  /** `compacted`: the model has lost its instructions. `ended`: there is no model to instruct. */
  session?: "compacted" | "ended";
}

/** The content of an agent's own dialog, for the phones. */
export type AgentDialog =
  | { kind: "questions"; questions: CardQuestion[] }
  /** `request` is all of it as the agent gave it; `decisions` are those that its hook can carry out. */
  | { kind: "approval"; tool: string; request: string; decisions: Decision[] };

export interface DialogCall {
  dialog: AgentDialog;
  /** The agent shows its dialog while the hook runs; else the dialog opens only when the hook has ended. */
  isShown: boolean;
}

/** The user's answer on a phone, which fits the dialog. */
export type DialogAnswer =
  | { kind: "answers"; answers: CardAnswer[] }
  | { kind: "decided"; decision: Decision; reason?: string | undefined };

export interface AgentHooks {
  /** The event of a submitted prompt at which text can be given to the model; undefined when the agent has none. */
  promptEvent: string | undefined;
  /** The agent's own id of the conversation. */
  sessionOf(input: HookInput): string | undefined;
  /** One process works in several conversations at once: another conversation does not mean another agent. */
  hasSeveralConversations?: true;
  /** The agent's working directory, according to the input. */
  directoryOf(input: HookInput): string | undefined;
  /** The prompt as it was typed; undefined when the input has none. */
  promptOf(input: HookInput): string | undefined;
  /** True if the agent itself, a timer or a tool wrote the prompt. */
  isFromMachine(input: HookInput): boolean;
  meaning(event: string, input: HookInput): HookMeaning;
  /** The dialog that this event belongs to, if the hook can answer it. */
  dialogOf?(event: string, input: HookInput): DialogCall | undefined;
  /** What to print so that the agent applies this answer to the dialog. */
  answerOutput?(call: { event: string; input: HookInput }, answer: DialogAnswer): string;
  /** What to print so that the model reads `text`. */
  contextOutput(event: string, text: string): string;
  /** Where the agent writes its last message when the input of a stop does not carry it. */
  transcript?: Transcript;
}

export interface Transcript {
  pathOf(input: HookInput): string | undefined;
  /** The last message of the turn that ends; undefined until it is written. */
  lastMessage(text: string): string | undefined;
}

/** The last argument of a hook's command in a registration that has the gate's events; older registrations lack it. */
export const GATES_ARGUMENT = "gates";
/** Takes its place for events with a dialog, in a registration that lets the hook wait for a phone. */
export const CARDS_ARGUMENT = "cards";

export function textOf(input: HookInput, field: string): string | undefined {
  const value = input[field];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The object in a field; an empty one when there is none. */
export function objectOf(input: HookInput, field: string): HookInput {
  return recordOf(input[field]) ?? {};
}

/** The value if it is an object. */
export function recordOf(value: unknown): HookInput | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}

/** The prompt of agents that pass on what was typed. */
export function plainPrompt({ prompt }: HookInput): string | undefined {
  return typeof prompt === "string" ? prompt : undefined;
}

/** The defaults of most agents' hooks: the names of their fields, and prompts that only a person writes. */
export const COMMON_HOOKS = {
  sessionOf: (input) => textOf(input, "session_id"),
  directoryOf: (input) => textOf(input, "cwd"),
  promptOf: plainPrompt,
  isFromMachine: () => false,
} as const satisfies Partial<AgentHooks>;

/** The longest id of a tool call that a report accepts. */
const ID_MAX_CHARS = 200;

/** A step of the tool call whose id is in `field`. */
export function toolStep(step: ToolStep["step"], input: HookInput, field?: string): ToolStep {
  const id = field === undefined ? undefined : textOf(input, field);
  const own = id === undefined || id.length > ID_MAX_CHARS ? {} : { id };
  return { step, ...own, ...(isFromSubagent(input) ? { subagent: true } : {}) };
}

/**
 * The agent is working from here on. The end of a call sets no state: the turn may end with it, and the reports may
 * arrive in either order. A subagent's calls set no state either.
 */
export function workingAt(tool: ToolStep): HookMeaning {
  return tool.subagent ? { tool } : { state: "working", tool };
}

/** True for an event of a subagent, which Claude and Codex name. */
export function isFromSubagent(input: HookInput): boolean {
  return textOf(input, "agent_id") !== undefined;
}

/** A tool that waits for a permission: its name and, if it runs a command, the command. */
export function describeTool(input: HookInput): string | undefined {
  const tool = textOf(input, "tool_name");
  const command = textOf(objectOf(input, "tool_input"), "command");
  return command === undefined ? tool : `${tool ?? "shell"}: ${command}`;
}

/** Reads the field `questions`; `more` adds what differs between agents. Undefined if a question has another form. */
export function questionsOf(
  { questions }: HookInput,
  more: (question: HookInput) => Pick<CardQuestion, "multiple" | "freeText">,
): CardQuestion[] | undefined {
  if (!Array.isArray(questions) || questions.length === 0) return undefined;
  const read = questions.map((question: unknown) => questionOf(question, more));
  return read.every((question) => question !== undefined) ? read : undefined;
}

function questionOf(
  value: unknown,
  more: (question: HookInput) => Pick<CardQuestion, "multiple" | "freeText">,
): CardQuestion | undefined {
  const question = recordOf(value);
  if (question === undefined) return undefined;
  const [text, heading] = [textOf(question, "question"), textOf(question, "header")];
  const options = optionsOf(question.options ?? []);
  if (text === undefined || options === undefined) return undefined;
  return { text, ...(heading === undefined ? {} : { heading }), options, ...more(question) };
}

function optionsOf(value: unknown): CardQuestion["options"] | undefined {
  if (!Array.isArray(value)) return undefined;
  const read = value.map((one: unknown) => {
    const option = typeof one === "string" ? { label: one } : recordOf(one) ?? {};
    const [label, description] = [textOf(option, "label"), textOf(option, "description")];
    return label === undefined ? undefined : { label, ...(description === undefined ? {} : { description }) };
  });
  return read.every((option) => option !== undefined) ? read : undefined;
}

/** A dialog of these questions; undefined when there are none. */
export function questionsCall(
  questions: CardQuestion[] | undefined,
  isShown: boolean,
): DialogCall | undefined {
  return questions && { dialog: { kind: "questions", questions }, isShown };
}

/** The labels of the chosen options and the user's own text, for each question. */
export function answersTo(questions: readonly CardQuestion[], answers: readonly CardAnswer[]): string[][] {
  return questions.map(({ options }, place) => {
    const { options: chosen = [], text } = answers[place] ?? {};
    return [...chosen.map((option) => options[option]?.label ?? ""), ...(text === undefined ? [] : [text])];
  });
}

/** The reason for a refused call that gives the model the answers. */
export function refusalWithAnswers(
  questions: readonly CardQuestion[] = [],
  answers: readonly CardAnswer[] = [],
): string {
  const given = answersTo(questions, answers);
  const lines = questions.map(({ text }, place) => `${text} ${given[place]?.join(", ")}`);
  return `Nothing went wrong: the user has answered on their phone. ${lines.join("\n")}`;
}

/** The reason for the model when the user gave none. */
export function reasonOf(answer: DialogAnswer & { kind: "decided" }): string {
  return answer.reason ?? "The user has rejected this on their phone.";
}

/** A line break of any kind, as a screen may show it. */
const BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/g;

/** Every field in full: its name alone on a line, its value indented, so that no value looks like a field. */
export function fieldsText(input: HookInput): string {
  return Object.entries(input).map(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
    return `${JSON.stringify(name).slice(1, -1)}:\n  ${text.replace(BREAK, "$&  ")}`;
  }).join("\n");
}

/** The whole request, and what `always`, if possible, would allow from then on. */
export function requestText(input: HookInput, lasting?: unknown): string {
  const always = lasting === undefined ? {} : { "allowed from then on, with always": lasting };
  return [input, always].map(fieldsText).filter((text) => text !== "").join("\n");
}
