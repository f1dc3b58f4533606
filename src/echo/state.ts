/** The echo agent as a state machine: a pure step from one state to the next, with the effects to carry out. */
import type { Key } from "./key_reader.ts";

export interface EchoState {
  draft: string;
  /** Prompts to submit when the work is done. */
  queue: readonly string[];
  isWorking: boolean;
  /** The open permission dialog and its selected row. */
  dialog: { row: 0 | 1 } | undefined;
  /** Ctrl-C was pressed once: the next one quits. */
  isQuitting: boolean;
}

export type EchoEvent =
  | Key
  /** Opens the permission dialog. */
  | { kind: "permit" }
  | { kind: "work"; seconds: number }
  /** The work is done. */
  | { kind: "worked" };

export type Effect =
  | { kind: "submit"; prompt: string }
  | { kind: "command"; command: string }
  | { kind: "note"; text: string }
  | { kind: "work"; seconds: number }
  /** `interrupted`: the user ended the work early. */
  | { kind: "stopWork"; interrupted: boolean }
  | { kind: "dialogOpened" }
  | { kind: "dialogAnswered"; approved: boolean; by: "enter" | "escape" | "digit" }
  /** Text typed or pasted into the dialog that does not answer it. */
  | { kind: "dialogInput"; text: string }
  | { kind: "quit" };

interface Step {
  state: EchoState;
  effects: readonly Effect[];
}

export const IDLE: EchoState = {
  draft: "",
  queue: [],
  isWorking: false,
  dialog: undefined,
  isQuitting: false,
};

/** With this many prompts queued, a new one stays in the input line. */
export const QUEUE_MAX = 100;
const DRAFT_MAX_CHARS = 1_000_000;
export const HELP = "/work [seconds]  work for a while   /permit  ask for permission   /exit  quit";

export function step(state: EchoState, event: EchoEvent): Step {
  switch (event.kind) {
    case "permit":
      return openDialog(state);
    case "work":
      return startWork(state, event.seconds);
    case "worked":
      return endWork(state, false);
    default:
      return state.dialog ? stepDialog(state, event) : stepLine(state, event);
  }
}

function stepLine(before: EchoState, key: Key): Step {
  const state = { ...before, isQuitting: false };
  switch (key.kind) {
    case "text":
    case "paste":
      return only({ ...state, draft: (state.draft + key.text).slice(0, DRAFT_MAX_CHARS) });
    case "enter":
      return submit(state);
    case "backspace":
      return only({ ...state, draft: Array.from(state.draft).slice(0, -1).join("") });
    case "clear":
      return only({ ...state, draft: "" });
    case "interrupt":
      return before.isQuitting
        ? { state, effects: [{ kind: "quit" }] }
        : only({ ...state, draft: "", isQuitting: true });
    case "escape":
      return state.isWorking ? endWork(state, true) : only(state);
    case "up":
    case "down":
      return only(state);
  }
}

function submit(state: EchoState): Step {
  if (state.draft === "") return only(state);
  if (!state.isWorking) return run({ ...state, draft: "" }, state.draft);
  if (state.queue.length >= QUEUE_MAX) {
    return { state, effects: [{ kind: "note", text: `queue full: ${QUEUE_MAX} messages are waiting` }] };
  }
  return only({ ...state, draft: "", queue: [...state.queue, state.draft] });
}

function run(state: EchoState, prompt: string): Step {
  const command = parseCommand(prompt);
  if (command === undefined) return { state, effects: [{ kind: "submit", prompt }] };
  const done = runCommand(state, command);
  return { ...done, effects: [{ kind: "command", command: prompt }, ...done.effects] };
}

function runCommand(state: EchoState, command: Command): Step {
  switch (command.name) {
    case "work":
      return startWork(state, command.seconds);
    case "permit":
      return openDialog(state);
    case "help":
      return { state, effects: [{ kind: "note", text: HELP }] };
    case "exit":
      return { state, effects: [{ kind: "quit" }] };
  }
}

function startWork(state: EchoState, seconds: number): Step {
  return { state: { ...state, isWorking: true }, effects: [{ kind: "work", seconds }] };
}

/** Submits the queued prompts, up to the first one that starts work or opens the dialog. */
function endWork(state: EchoState, interrupted: boolean): Step {
  if (!state.isWorking) return only(state);
  return runQueue({ ...state, isWorking: false }, [{ kind: "stopWork", interrupted }]);
}

function runQueue(state: EchoState, effects: readonly Effect[]): Step {
  const [prompt, ...queue] = state.queue;
  if (prompt === undefined || state.isWorking || state.dialog) return { state, effects };
  const next = run({ ...state, queue }, prompt);
  return runQueue(next.state, [...effects, ...next.effects]);
}

function openDialog(state: EchoState): Step {
  if (state.dialog) return only(state);
  return { state: { ...state, dialog: { row: 0 } }, effects: [{ kind: "dialogOpened" }] };
}

function stepDialog(state: EchoState, key: Key): Step {
  const { row } = state.dialog ?? { row: 0 };
  switch (key.kind) {
    case "enter":
      return closeDialog(state, { approved: row === 0, by: "enter" });
    case "escape":
    case "interrupt":
      return closeDialog(state, { approved: false, by: "escape" });
    case "up":
    case "down":
      return only({ ...state, dialog: { row: key.kind === "up" ? 0 : 1 } });
    case "text":
      return typeIntoDialog(state, key.text);
    case "paste":
      return { state, effects: [{ kind: "dialogInput", text: key.text }] };
    case "backspace":
    case "clear":
      return only(state);
  }
}

/** As in real agents, a digit answers at once, and the text after it goes into the input line. */
function typeIntoDialog(state: EchoState, text: string): Step {
  const at = text.search(/[12]/);
  const ignored = at < 0 ? text : text.slice(0, at);
  const effects: Effect[] = ignored === "" ? [] : [{ kind: "dialogInput", text: ignored }];
  if (at < 0) return { state, effects };
  const closed = closeDialog(state, { approved: text[at] === "1", by: "digit" });
  const after = { ...closed.state, draft: closed.state.draft + text.slice(at + 1) };
  return { state: after, effects: [...effects, ...closed.effects] };
}

function closeDialog(
  state: EchoState,
  answer: { approved: boolean; by: "enter" | "escape" | "digit" },
): Step {
  return runQueue({ ...state, dialog: undefined }, [{ kind: "dialogAnswered", ...answer }]);
}

function only(state: EchoState): Step {
  return { state, effects: [] };
}

/** What the user can type besides prompts. */
type Command = { name: "work"; seconds: number } | { name: "permit" | "help" | "exit" };

const WORK_DEFAULT_SECONDS = 5;
const WORK_MAX_SECONDS = 3_600;

/** Undefined for a prompt, and for a command with arguments it does not accept. */
function parseCommand(text: string): Command | undefined {
  const work = /^\/work(?: +(\d+(?:\.\d+)?))? *$/.exec(text);
  if (work) {
    return { name: "work", seconds: Math.min(Number(work[1] ?? WORK_DEFAULT_SECONDS), WORK_MAX_SECONDS) };
  }
  const name = /^\/(permit|help|exit) *$/.exec(text)?.[1];
  return name === undefined ? undefined : { name: name as "permit" | "help" | "exit" };
}
