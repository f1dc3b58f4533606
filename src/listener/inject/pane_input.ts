/**
 * Coordinates what svc types into a pane: one input at a time, not during the agent's tool calls, with a model of the
 * composer.
 */
import type { Clock } from "../../async/clock.ts";
import { Mutex } from "../../async/mutex.ts";
import { Wakeup } from "../../async/wakeup.ts";
import type { AgentProfile, ScreenReading } from "../../agents/profile.ts";
import type { HookReport } from "../../home/control_socket.ts";
import { composerShows, isSameText, type LeftBehind, showsTyped } from "./composer.ts";

/** How long a hook waits for an input in flight; after that the input may no longer press Enter. */
export const GATE_HOLD_MS = 4_000;
/** A tool call needs no permission if no dialog has opened after this time with the composer on the screen. */
export const TOOL_DIALOG_MS = 10_000;
/** After a dialog closes, the next one of the same turn may follow within this time. */
export const NEXT_DIALOG_MS = 1_500;
/** Tool calls kept per pane; beyond this the oldest are dropped. */
export const TOOL_CALLS_MAX = 100;
/** After Enter an agent counts as working for this long, unless its screen showed it work and finish. */
export const TURN_START_MS = 2_000;
/** A draft that has been stable for this long since the last key shows the effect of that key. */
export const CALM_MS = 1_000;
/** The same after a key that opens another view, until a screen has shown one. */
export const VIEW_CALM_MS = 3_000;
/**
 * Nothing is typed for this long after an Escape, because an agent that reads both at once takes them for one sequence.
 */
export const ESCAPE_MS = 1_000;
/** The same for text that would turn the Escape into another key, such as `[Z`. */
export const ESCAPE_JOIN_MS = 5_000;

/** The permission event, which some agents send after the event of the tool call itself. */
const PERMISSION_EVENT = /^permissionRequest$/i;

export type InputClock = Pick<Clock, "now" | "elapsed" | "after">;

/** The right to type into a pane until `end`. */
export interface InFlight {
  /** False once a tool call has gone ahead without waiting any longer, and after the end. */
  mayGoOn(): boolean;
  end(): void;
}

interface ToolCall {
  id: string | undefined;
  /** A subagent's: it may continue after the turn has ended. */
  isSubagents: boolean;
  /** When the hook let it begin; undefined while it waits. */
  begunAt: number | undefined;
  hadDialog: boolean;
  composerSince: number | undefined;
}

interface SeenSession {
  created: number;
  seenAt: number;
}

/**
 * Keeps inputs and tool calls apart. An agent waits for its hook before it opens a dialog: while an input is in
 * flight the hook waits, and from the hook until the end of the dialog no input begins.
 */
export class ToolGate {
  readonly #clock: InputClock;
  #calls: ToolCall[] = [];
  #inFlight: { ended: Wakeup; isCancelled: boolean } | undefined;
  /** When a hook of this pane last reported that it holds dialogs back: epoch milliseconds, and the clock's `elapsed`. */
  #confirmed: { now: number; elapsed: number } | undefined;

  constructor(clock: InputClock) {
    this.#clock = clock;
  }

  get isOpen(): boolean {
    return this.#calls.length === 0;
  }

  /** A hook of this pane has reported that it holds dialogs back. */
  confirm(): void {
    this.#confirmed = { now: this.#clock.now(), elapsed: this.#clock.elapsed() };
  }

  forgetConfirmation(): void {
    this.#confirmed = undefined;
  }

  /**
   * True if a hook has reported this since the session began. `created`: its epoch seconds, which lie in the future
   * after the clock was set back. `seenAt`: by the clock's `elapsed`, when the session existed.
   */
  isConfirmedSince({ created, seenAt }: SeenSession): boolean {
    const confirmed = this.#confirmed;
    return confirmed !== undefined && (confirmed.now >= created * 1_000 || confirmed.elapsed > seenAt);
  }

  /** Begins an input; undefined while a dialog may open. */
  begin(): InFlight | undefined {
    if (!this.isOpen) return undefined;
    const inFlight = { ended: new Wakeup(this.#clock), isCancelled: false };
    this.#inFlight = inFlight;
    return {
      mayGoOn: () => this.#inFlight === inFlight && !inFlight.isCancelled,
      end: () => {
        if (this.#inFlight === inFlight) this.#inFlight = undefined;
        inFlight.ended.wake();
      },
    };
  }

  /** A tool call is about to begin: resolves once it may. */
  async toolBegins(report: HookReport): Promise<void> {
    const call = this.#called(report);
    Object.assign(call, { begunAt: undefined, composerSince: undefined });
    const inFlight = this.#inFlight;
    if (inFlight !== undefined) {
      await inFlight.ended.sleep(GATE_HOLD_MS);
      inFlight.isCancelled = true;
    }
    call.begunAt = this.#clock.elapsed();
  }

  /** Ends the call with this id, or the oldest one without an id. */
  toolEnded(id: string | undefined): void {
    const at = this.#calls.findIndex((call) => call.id === id);
    if (at >= 0) this.#calls.splice(at, 1);
  }

  turnEnded(): void {
    this.#calls = this.#calls.filter(({ isSubagents }) => isSubagents);
  }

  /** A permission request belongs to the call before it and ends with it. */
  #called({ event, tool }: HookReport): ToolCall {
    const last = this.#calls.at(-1);
    if (last !== undefined && tool?.id === undefined && PERMISSION_EVENT.test(event)) return last;
    const call = { id: tool?.id, isSubagents: tool?.subagent === true, hadDialog: false };
    const added: ToolCall = { ...call, begunAt: undefined, composerSince: undefined };
    this.#calls = [...this.#calls, added].slice(-TOOL_CALLS_MAX);
    return added;
  }

  /**
   * Takes a new screen and forgets calls that can no longer open a dialog, since not every call's end is reported.
   * Parallel calls may each still open one after another has run: they stay until their own end, or the turn's.
   */
  observed({ focus, state }: ScreenReading): void {
    const now = this.#clock.elapsed();
    for (const call of this.#calls) {
      if (focus === "dialog") call.hadDialog = true;
      call.composerSince = focus === "composer" && call.begunAt !== undefined
        ? call.composerSince ?? now
        : undefined;
    }
    const isParallel = this.#calls.length > 1 && state !== "idle";
    this.#calls = this.#calls.filter(({ composerSince, hadDialog }) =>
      isParallel || composerSince === undefined ||
      now - composerSince < (hadDialog ? NEXT_DIALOG_MS : TOOL_DIALOG_MS)
    );
  }
}

/** What the composer should show, and whether the screen has shown it since the last key. */
export interface ComposerModel {
  /** Undefined after a key whose effect cannot be predicted. */
  expected: string | undefined;
  /** The draft as last shown once the screen had caught up. */
  seen: string | undefined;
  /** The screen has caught up with every key. */
  isConfirmed: boolean;
  /** The cursor is at the end of the draft. */
  isAtEnd: boolean;
  /** The text of the last input, without what keys may have removed since: a draft that lacks it is older. */
  lastText: string;
  /** The draft may show a placeholder for a long paste. */
  hasPaste: boolean;
  /** The selection in the suggestions was moved: Enter may run a different command from the one shown. */
  hasMovedChoice: boolean;
  /** A key was typed that may open another view, and no screen has confirmed since that the composer is still there. */
  mayHaveLeft: boolean;
  /** That key opens another view at once, and no screen has shown one since. */
  awaitsView: boolean;
  /** The draft was begun from a phone. */
  isFromPhone: boolean;
  /** The last key was Escape. */
  afterEscape: boolean;
  /** A phone's key was typed after the last message. */
  isSinceMessage: boolean;
  /** Time of the last key, epoch milliseconds. */
  keyAt: number;
}

/** The inputs into a pane, one at a time, and how many have begun. */
interface InputTurns {
  readonly inputs: Mutex;
  begun: number;
}

export class PaneInput {
  readonly gate: ToolGate;
  /** Undefined if svc left nothing in the composer. */
  leftBehind: LeftBehind | undefined;
  /**
   * tmux has found the guard false, perhaps because of a dialog's line that the captured screen does not show: it
   * searches the screens itself until it finds none.
   */
  mustSearch = false;
  /** Text was typed since the last key that ends a line, for panes whose screen no profile reads. */
  isLineBegun = false;
  readonly model: ComposerModel = {
    expected: undefined,
    seen: undefined,
    isConfirmed: true,
    isAtEnd: false,
    lastText: "",
    hasPaste: false,
    hasMovedChoice: false,
    mayHaveLeft: false,
    awaitsView: false,
    isFromPhone: false,
    afterEscape: false,
    isSinceMessage: false,
    keyAt: 0,
  };
  readonly #clock: Pick<Clock, "now" | "elapsed">;
  /** Inputs being typed or waiting their turn. */
  readonly turns: InputTurns;
  #enterAt = -Infinity;
  #messageAt = 0;
  #hasWorkedSinceEnter = true;
  /** By the clock's `elapsed`, as the next two are: the last key or message. */
  #inputAt = -Infinity;
  #calmDraft: { draft: string; since: number } | undefined;
  /** The session that `isGated` was last asked about, and since when. */
  #seen: SeenSession | undefined;

  /** `turns`: those of the same pane under another agent's rules. */
  constructor(
    gate: ToolGate,
    clock: Pick<Clock, "now" | "elapsed">,
    turns: InputTurns = { inputs: new Mutex(), begun: 0 },
  ) {
    this.gate = gate;
    this.#clock = clock;
    this.turns = turns;
  }

  /** How many inputs have begun so far. A screen that was read before the newest one need not show its effect. */
  get begun(): number {
    return this.turns.begun;
  }

  get isTyping(): boolean {
    return this.turns.inputs.size > 0;
  }

  /** Runs one input at a time. `work` gets the number of inputs that began before it. */
  async alone<T>(work: (others: number) => Promise<T>): Promise<T> {
    return await this.turns.inputs.run(() => work(this.turns.begun++));
  }

  /** True if this agent's hooks hold its dialogs back. `created`: epoch seconds of the session. */
  isGated(profile: Pick<AgentProfile, "gate">, created: number): boolean {
    if (this.#seen?.created !== created) this.#seen = { created, seenAt: this.#clock.elapsed() };
    return profile.gate !== undefined && this.gate.isConfirmedSince(this.#seen);
  }

  /** True during a tool call that its hook has reported: an agent that calls tools has finished starting. */
  get isInCall(): boolean {
    return !this.gate.isOpen;
  }

  /** True if no turn is running, so the agent opens no dialog by itself. */
  isIdle({ state }: ScreenReading): boolean {
    const startsTurn = !this.#hasWorkedSinceEnter &&
      this.#clock.elapsed() - this.#enterAt < TURN_START_MS;
    return state === "idle" && !startsTurn;
  }

  /** When a phone's last key or the last message was typed, epoch milliseconds. */
  get typedAt(): number {
    return Math.max(this.model.keyAt, this.#messageAt);
  }

  /** Milliseconds since a phone's last key or the last message. */
  get sinceInputMs(): number {
    return this.#clock.elapsed() - this.#inputAt;
  }

  /** Milliseconds until an earlier Escape can no longer combine with what follows. */
  get escapeWaitMs(): number {
    return this.model.afterEscape ? Math.max(0, ESCAPE_MS - this.sinceInputMs) : 0;
  }

  /** Takes what the composer should show after a key that was typed now. */
  keyTyped(model: ComposerModel): void {
    Object.assign(this.model, model);
    this.#inputAt = this.#clock.elapsed();
  }

  /** Called when a message was typed: from then on the screen is compared with the message, not with keys. */
  forgetKeys(): void {
    Object.assign(this.model, { isConfirmed: false, expected: undefined, isAtEnd: false, lastText: "" });
    this.model.afterEscape = false;
    this.model.mayHaveLeft = false;
    this.model.awaitsView = false;
    this.model.isFromPhone = false;
    this.model.isSinceMessage = false;
    this.#messageAt = this.#clock.now();
    this.#inputAt = this.#clock.elapsed();
  }

  entered(): void {
    this.#enterAt = this.#clock.elapsed();
    this.#hasWorkedSinceEnter = false;
  }

  /** Takes a new screen. */
  observed(reading: ScreenReading, profile: Pick<AgentProfile, "foldedPaste">): void {
    this.gate.observed(reading);
    if (reading.state === "working" || reading.state === "waiting") this.#hasWorkedSinceEnter = true;
    const { draft } = reading;
    if (draft === undefined) {
      this.model.awaitsView = false;
      this.#calmDraft = undefined;
      return;
    }
    const { model } = this;
    if (this.#calmDraft?.draft !== draft) this.#calmDraft = { draft, since: this.#clock.elapsed() };
    const isChange = model.seen !== undefined && !isSameText(draft, model.seen);
    const isExpected = model.expected !== undefined && (isSameText(draft, model.expected) ||
      (model.hasPaste && composerShows(draft, { before: "", text: model.expected }, profile)));
    if (!model.isConfirmed && isExpected && isChange) model.isConfirmed = true;
    if (model.isConfirmed) this.#settle(draft);
  }

  /** The draft has not changed for CALM_MS, or VIEW_CALM_MS, since the last key. */
  get isCalm(): boolean {
    const calm = this.#calmDraft;
    if (calm === undefined) return false;
    const since = Math.max(this.#inputAt, calm.since);
    return this.#clock.elapsed() - since >= (this.model.awaitsView ? VIEW_CALM_MS : CALM_MS);
  }

  /** The draft that has been calm shows the text of the last input: without it the agent has not read that yet. */
  get showsLastText(): boolean {
    const { lastText, hasPaste } = this.model;
    const draft = this.#calmDraft?.draft ?? "";
    return showsTyped(draft, lastText) || (hasPaste && draft !== "");
  }

  /** A key that may open another view was typed, and no screen has shown its effect since. */
  get mayHaveLeft(): boolean {
    return this.model.mayHaveLeft && !this.model.isConfirmed;
  }

  /** Accepts the screen as the result of all keys so far. */
  confirmCalm(): void {
    this.model.isConfirmed = true;
    this.model.isAtEnd = false;
    if (this.#calmDraft !== undefined) this.#settle(this.#calmDraft.draft);
  }

  #settle(draft: string): void {
    const { model } = this;
    model.seen = draft;
    if (draft === "") {
      model.isAtEnd = true;
      model.hasPaste = false;
      model.hasMovedChoice = false;
      model.isFromPhone = false;
    }
    if (!model.hasPaste || model.expected === undefined) model.expected = draft;
  }
}
