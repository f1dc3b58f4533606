/** What messages and keystrokes need to type into panes: shared state, limits, effects on this machine beyond tmux, outcomes. */
import { runtime } from "#runtime";
import { TokenBuckets } from "../../async/token_bucket.ts";
import { bootTime, isTaken, withdrawMarker, writeMarker } from "../../home/markers.ts";
import { isMuted, loadMuted } from "../../home/muted.ts";
import type { HomePaths } from "../../home/paths.ts";
import { INJECTIONS_PER_MINUTE } from "../../protocol/limits.ts";
import type { PushState, Reason } from "../../protocol/receipt.ts";
import type { TmuxServer } from "../../tmux/server.ts";
import { type FactsOptions, isPaneBusy, parentProcess, readProcessFacts } from "../process_facts.ts";
import type { Place, Target, Targets } from "../targets.ts";
import type { ProcessFacts } from "./guard.ts";
import type { PaneInput } from "./pane_input.ts";
import type { PaneInputs } from "./pane_inputs.ts";
import type { Policy } from "./policy.ts";

export interface TypingContext {
  targets: Pick<Targets, "resolve" | "known" | "server">;
  inputs: Pick<PaneInputs, "of">;
  policy: Policy;
  effects: TypingEffects;
  /** Epoch milliseconds. May jump: only for comparison with times from elsewhere. */
  now(): number;
  /** Milliseconds since some fixed moment, to measure durations. */
  elapsed(): number;
  /** Called after something was typed: the session's state will change. */
  typed(): void;
}

/** What the injections of one listener share. */
export interface InjectContext extends TypingContext {
  targets: Pick<Targets, "resolve" | "known" | "server" | "follow">;
  rateLimit: Pick<SessionRateLimit, "take">;
  /** Aborted with Stopping or TakenOver: waiting messages are no longer typed. */
  signal: AbortSignal;
  /**
   * Resolves after `ms`, or earlier when a hook reported. Throws TakenOver, not Stopping: typing goes on while the
   * daemon stops.
   */
  pause(ms: number): Promise<void>;
  /** Writes a step to the journal, durably. */
  record(id: string, step: "accepted" | "typing" | "typed" | "left", earlier?: EarlierTyping): Promise<void>;
  report(id: string, progress: Progress): void;
}

/** What all injections share. */
export type Injection = Omit<InjectContext, "signal">;

/** `signal`: aborted with Stopping or TakenOver. */
export function injectContext(injection: Injection, signal: AbortSignal): InjectContext {
  const pause = async (ms: number): Promise<void> => {
    await injection.pause(ms);
    if (signal.reason instanceof TakenOver) throw signal.reason;
  };
  return { ...injection, signal, pause };
}

/** One pane to check and type into. */
export interface PaneContext extends Pick<TypingContext, "policy" | "effects" | "now" | "elapsed"> {
  target: Target;
  server: TmuxServer;
  input: PaneInput;
}

/** An agent belongs to the project in which it was started, also while it works in another directory. */
export function paneContext<C extends TypingContext>(context: C, target: Target): C & PaneContext {
  const { targets, inputs, effects } = context;
  const isMuted: TypingEffects["isMuted"] = (...directories) =>
    effects.isMuted(...directories, target.directory, target.root);
  const pane = { target, server: targets.server(target), input: inputs.of(target) };
  return { ...context, ...pane, effects: { ...effects, isMuted } };
}

/** A marker on disk, which the agent's prompt-submit hook takes. */
export interface WrittenMarker {
  /** Removes it. False if the hook was faster. */
  withdraw(): Promise<boolean>;
  taken(): Promise<boolean>;
}

/** Replaced by tests. */
export interface TypingEffects {
  processFacts(pid: number, options: FactsOptions): Promise<ProcessFacts>;
  /**
   * True if a process of this tree is running or runnable: it may not have read its input. Undefined if the system does
   * not report it.
   */
  isBusy(pid: number): Promise<boolean | undefined>;
  /** True if the project in one of these directories is muted. */
  isMuted(...directories: string[]): Promise<boolean>;
  writeMarker(
    directory: string,
    message: { body: string; pane: string; socket: string; panePid: number },
  ): Promise<WrittenMarker>;
}

export function typingEffects(paths: HomePaths): TypingEffects {
  const { files } = runtime;
  const home = { files, markers: paths.markers, bootTime: () => bootTime(files) };
  return {
    processFacts: (pid, options) => readProcessFacts(pid, runtime, options),
    isBusy: (pid) => isPaneBusy(pid, runtime),
    isMuted: async (...directories) => isMuted(await loadMuted(files, paths), ...directories),
    async writeMarker(dir, { body: text, pane, socket, panePid }) {
      const server = parentProcess(panePid, runtime);
      const handle = await writeMarker(home, { dir, text, pane, socket, server, now: Date.now() });
      return { withdraw: () => withdrawMarker(home, handle), taken: () => isTaken(home, handle) };
    },
  };
}

/** The rate limit of a session: 30 messages a minute. */
export class SessionRateLimit {
  readonly #buckets = new TokenBuckets({
    perSecond: INJECTIONS_PER_MINUTE / 60,
    burst: INJECTIONS_PER_MINUTE,
  });
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Takes a token and returns 0, or takes none and returns the whole seconds until the next one. */
  take(session: string): number {
    return this.#buckets.take(session, this.#now());
  }
}

/**
 * Final states. `refused`: the message was not submitted. `typed`: into a pane of an unknown agent, where nothing can
 * confirm more. `unknown`: it may have been submitted, and is never typed again.
 */
export interface Outcome {
  state: Extract<
    PushState,
    "submitted" | "typed" | "refused" | "expired" | "unknown" | "ignored" | "withdrawn"
  >;
  reason?: Reason;
  retryAfterSeconds?: number;
  /** The session of a started agent. */
  agentSessionName?: string;
  /** The target pane, once it was resolved. */
  pane?: string;
  /** What a dialog's answer was about, for the audit log. */
  about?: string;
  /** What tmux said when it failed, for the log. */
  failure?: string;
}

/** An agent that asked its user, or for which a message waits. */
export interface Asker extends Required<Place> {
  run: string;
}

/** A message to type. `expiresAt` is in this host's epoch milliseconds. */
export interface Command {
  id: string;
  session: string;
  body: string;
  expiresAt: number;
  /** Type even while the local user is typing or has left a draft. */
  sendAnyway: boolean;
  /** Set for a late answer: the run of the agent that asked, the only one that may get it. */
  run?: string | undefined;
  /** That agent, if this host itself knows it: it counts, whatever the relay wrote. */
  asker?: Asker | undefined;
  turn: Turn;
  /** An earlier listener has typed the text and not pressed Enter. */
  left?: EarlierTyping;
}

/** The journal's record of a text that an earlier listener typed. */
export interface EarlierTyping {
  /** When the composer was empty right before, epoch milliseconds; undefined if it held a draft. */
  emptyAt?: number | undefined;
  /** The placeholder for a long paste that showed it. */
  shown?: string | undefined;
}

/** A message can be cancelled until it is being typed, or while its text is held, and is not submitted once it is cancelled. */
export interface Turn {
  /** `held`: its text waits in the composer, and can be removed. */
  step: "waiting" | "typing" | "held" | "withdrawn";
  /** If set, Enter must not be pressed; the outcome once its text is removed. */
  takeBack?: Outcome;
  /** The agent that had the session's name when the message began to wait for a later time. */
  meant?: Asker | undefined;
}

/** Marks the message as being typed. False if it was cancelled. */
export function beginTyping(turn: Turn): boolean {
  if (turn.step === "withdrawn") return false;
  turn.step = "typing";
  return true;
}

/** Intermediate states. */
export interface Progress {
  state: Extract<PushState, "delivered" | "held" | "typed">;
  reason?: Reason;
}

export function refused(reason: Reason, retryAfterSeconds?: number): Outcome {
  return { state: "refused", reason, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
}

/** The daemon stops while a message waits: the message stays open, and the relay sends it again. */
export class Stopping extends Error {
  override name = "Stopping";
}

/** Another listener of this device gets what waits here, and what is being typed here must not be submitted. */
export class TakenOver extends Stopping {
  override name = "TakenOver";
}
