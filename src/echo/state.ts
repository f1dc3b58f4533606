/** The echo agent as a state machine: a pure step to the next state, with its effects; and the reader of its keys. */

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
export const HELP = "/work [seconds]  work   /permit  ask permission   /exit  quit (not by phone)";

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

/** What the user can type other than prompts. */
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

export type Key =
  /** Typed characters, including a line feed (Ctrl-J). */
  | { kind: "text"; text: string }
  /** The content of a bracketed paste, with CR and CRLF turned into LF. */
  | { kind: "paste"; text: string }
  | { kind: "enter" | "escape" | "backspace" | "clear" | "interrupt" | "up" | "down" };

const PASTE_START = "\x1b[200~";
const PASTE_END = "\x1b[201~";
/** A control sequence (ECMA-48, section 5.4) or an SS3 function key. */
const SEQUENCE = /^\x1b(?:\[[0-?]*[ -/]*[@-~]|O[ -~])/;
const SEQUENCE_BEGUN = /^\x1b(?:\[[0-?]*[ -/]*|O)?$/;
const TEXT = /^[^\x00-\x08\x0b-\x1f\x7f]+/;
/** Longer pastes are cut, to keep the draft bounded. */
const PASTE_MAX_CHARS = 1_000_000;

const CONTROL_KEYS: Readonly<Record<string, Key["kind"] & ("enter" | "backspace" | "clear" | "interrupt")>> =
  {
    "\r": "enter",
    "\x7f": "backspace",
    "\b": "backspace",
    "\x15": "clear",
    "\x03": "interrupt",
  };
const SEQUENCE_KEYS: Readonly<Record<string, "up" | "down" | "enter">> = {
  "\x1b[A": "up",
  "\x1bOA": "up",
  "\x1b[B": "down",
  "\x1bOB": "down",
  "\x1bOM": "enter",
};

/** Turns a terminal's bytes into keys, typed text and pastes, wherever the chunks are cut. */
export class KeyReader {
  /** `ignoreBOM` keeps a byte order mark: it is part of the input. */
  #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** The beginning of an incomplete sequence. */
  #rest = "";
  /** The paste so far; undefined outside a paste. */
  #paste: string | undefined;

  /** True after a lone Escape or an incomplete sequence: only time tells which it is. */
  get isWaiting(): boolean {
    return this.#rest !== "" && this.#paste === undefined;
  }

  push(bytes: Uint8Array): Key[] {
    this.#rest += this.#decoder.decode(bytes, { stream: true });
    const keys: Key[] = [];
    while (this.#takeNext(keys)) { /* until the rest is incomplete */ }
    return keys;
  }

  /** Call this when nothing followed in time: the pending Escape was the key itself. */
  flush(): Key[] {
    if (!this.isWaiting) return [];
    const rest = this.#rest.slice(1);
    this.#rest = "";
    return rest === "" ? [{ kind: "escape" }] : [{ kind: "escape" }, { kind: "text", text: rest }];
  }

  /** True if it consumed something. */
  #takeNext(keys: Key[]): boolean {
    if (this.#rest === "") return false;
    if (this.#paste !== undefined) return this.#takePaste(keys);
    if (this.#rest.startsWith("\x1b")) return this.#takeSequence(keys);
    const text = TEXT.exec(this.#rest)?.[0];
    if (text !== undefined) keys.push({ kind: "text", text });
    const control = CONTROL_KEYS[this.#rest[0] ?? ""];
    if (control !== undefined) keys.push({ kind: control });
    this.#drop(text?.length ?? 1);
    return true;
  }

  #takeSequence(keys: Key[]): boolean {
    if (SEQUENCE_BEGUN.test(this.#rest)) return false;
    const sequence = SEQUENCE.exec(this.#rest)?.[0];
    const key = SEQUENCE_KEYS[sequence ?? ""];
    if (sequence === PASTE_START) this.#paste = "";
    else if (key !== undefined) keys.push({ kind: key });
    else if (sequence === undefined) keys.push({ kind: "escape" });
    this.#drop(sequence?.length ?? 1);
    return true;
  }

  /** A chunk may end inside the end mark: what could be its beginning stays in the buffer. */
  #takePaste(keys: Key[]): boolean {
    const end = this.#rest.indexOf(PASTE_END);
    const whole = end < 0 ? this.#rest.length - endMarkPrefixLength(this.#rest) : end;
    const room = PASTE_MAX_CHARS - (this.#paste ?? "").length;
    this.#paste += this.#rest.slice(0, Math.min(whole, room));
    this.#drop(end < 0 ? whole : end + PASTE_END.length);
    if (end < 0) return false;
    keys.push({ kind: "paste", text: (this.#paste ?? "").replace(/\r\n?/g, "\n") });
    this.#paste = undefined;
    return true;
  }

  #drop(length: number): void {
    this.#rest = this.#rest.slice(length);
  }
}

/** The length of the longest suffix of `text` that could be the beginning of the end mark. */
function endMarkPrefixLength(text: string): number {
  for (let length = Math.min(PASTE_END.length - 1, text.length); length > 0; length--) {
    if (PASTE_END.startsWith(text.slice(-length))) return length;
  }
  return 0;
}
