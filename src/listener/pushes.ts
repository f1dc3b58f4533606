/**
 * Accepts pushes from the relay: each is journalled, waits its turn, is injected or starts an agent, and is acknowledged.
 * For a push that a paired phone sealed, a proof shows that the receipt is this host's, not the relay's.
 */
import { Mutex } from "../async/mutex.ts";
import { errorText } from "../async/error_text.ts";
import { isEnough, type Sealing } from "../crypto/mode.ts";
import type { Journal, TakeVerdict } from "../home/journal.ts";
import type { EventData } from "../protocol/frames.ts";
import { Body, type Push } from "../protocol/push.ts";
import type { PushState, Reason } from "../protocol/receipt.ts";
import { type InjectContext, type Outcome, type Progress, refused, Stopping } from "./inject/context.ts";
import { type Command, inject } from "./inject/inject.ts";
import { unseal, type Unsealed, type UnsealHost } from "./sealing.ts";
import { startAgent, type StartOptions } from "./start_agent.ts";
import type { Audit, AuditEntry } from "../home/log_files.ts";
import { canonicalDigest } from "../protocol/canonical.ts";
import { receiptProof } from "../crypto/proofs.ts";

export type Acknowledgement = EventData<"push.ack">;

export type PushJournal = Pick<Journal, "state" | "record" | "take" | "promise">;

/** Retry-After when the session's queue is full. */
export const QUEUE_FULL_WAIT_SECONDS = 60;

const START = "agent.start";
const ACTED_ON: readonly string[] = ["agent.command", START];
/** The queue of agent starts. No session has this name. */
const START_TURN = "agent.start of this host";

/** Refusal reasons for sealed messages that the journal does not accept. */
const NOT_TAKEN = {
  used: "counter_used",
  old: "counter_old",
  uncounted: "counter_missing",
} as const satisfies Record<Exclude<TakeVerdict, "taken">, Reason>;

interface Answer {
  state: PushState;
  reason?: string | undefined;
  retryAfterSeconds?: number | undefined;
  agentSessionName?: string | undefined;
}

/** What is done with a push. Tests replace the steps. */
export interface PushSteps {
  unseal(push: Push): Promise<Unsealed>;
  /** `signal`: aborted with Stopping when this listener may type nothing more. */
  inject(command: Command, signal: AbortSignal): Promise<Outcome>;
  start(push: Push): Promise<Outcome>;
  /** A crash interrupted the injection of this push: its text may still be in the composer. */
  leftBehind(push: Push): Promise<void>;
  /** Called once for each push that ended, with the milliseconds since it arrived. */
  ended(push: Push, outcome: Outcome, elapsedMs: number): Promise<void>;
}

export interface PushStepsOptions {
  injection: Injection;
  starting: StartOptions;
  keys: Omit<UnsealHost, "now" | "log">;
  audit: Pick<Audit, "record">;
  log(line: string): void;
}

/** What all injections share. */
export interface Injection extends Omit<InjectContext, "pause"> {
  /** Resolves after `ms`, or earlier when a hook reported; throws the signal's reason. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
}

export function pushSteps({ injection, starting, keys, audit, log }: PushStepsOptions): PushSteps {
  const { targets, inputs, now } = injection;
  const open = (push: Push): Promise<Unsealed> => unseal(push, { ...keys, now, log });
  return {
    unseal: open,
    inject: (command, signal) =>
      inject(command, { ...injection, pause: (ms) => injection.pause(ms, signal) }),
    start: (push) => startAgent(push, starting),
    async leftBehind(push) {
      const { found } = push.sealed ? await open(push) : { found: push };
      if ("state" in found || found.body === undefined || found.agentSessionName === undefined) return;
      const resolved = await targets.resolve(found.agentSessionName);
      // The next message to this session finds the text there and removes it.
      if (resolved.kind === "found") inputs.of(resolved.target).leftBehind = { before: "", text: found.body };
    },
    async ended(push, outcome, elapsedMs) {
      const reason = outcome.reason ? ` ${outcome.reason}` : "";
      const session = outcome.agentSessionName ?? push.agentSessionName ?? "-";
      const action = push.type === START ? "start" : "inject";
      log(`${action} ${push.id} ${session} ${outcome.state}${reason} ${Math.round(elapsedMs)} ms`);
      audit.record(await auditEntry(push, outcome, now()));
    },
  };
}

/** The audit log's line for a push: never its text. */
async function auditEntry(push: Push, outcome: Outcome, nowMs: number): Promise<AuditEntry> {
  const body = push.body ?? "";
  return {
    time: new Date(nowMs).toISOString(),
    device: push.from,
    session: outcome.agentSessionName ?? push.agentSessionName ?? "",
    pane: outcome.pane ?? "",
    digest: await canonicalDigest(body),
    length: body.length,
    outcome: outcome.reason ? `${outcome.state} ${outcome.reason}` : outcome.state,
  };
}

export interface PushOptions extends PushSteps {
  journal: PushJournal;
  acknowledge(ack: Acknowledgement): void;
  queues?: SessionQueues;
  log(line: string): void;
  now(): number;
  /** Converts the relay's epoch milliseconds to this host's. */
  toLocalTime(relayMs: number): number;
  /** The weakest sealing that this host accepts now. */
  floor(): Promise<Sealing>;
}

/** From the start, or a hand-over, to the next hand-over or the stop. */
class Era {
  readonly inHand = new Map<string, Progress>();
  /** Aborted with Stopping at the end: work that waits does nothing then. */
  readonly end = new AbortController();
}

export class PushIntake {
  readonly #options: PushOptions;
  readonly #queues: SessionQueues;
  /** By turn: arrivals that are not queued yet. */
  #arrivals = new Map<string, Promise<void>>();
  #era = new Era();

  constructor(options: PushOptions) {
    this.#options = options;
    this.#queues = options.queues ?? new SessionQueues();
  }

  /** Accepts nothing more: new pushes stay with the relay, and so do those that wait. */
  stop(): void {
    this.#era.end.abort(new Stopping("the daemon stops"));
  }

  /** Resolves when every push that was accepted has ended. */
  async idle(): Promise<void> {
    await this.#queues.idle();
  }

  /** Drops what waits: another listener of this device took over and gets it from the relay. */
  drop(): void {
    this.#era.end.abort(new Stopping("another listener took over"));
    this.#era = new Era();
  }

  /** Acknowledges a known push again; accepts a new one. Resolves before the outcome is known. */
  async receive(push: Push): Promise<void> {
    const era = this.#era;
    const inHand = era.inHand.get(push.id);
    if (inHand) return this.#acknowledge(push.id, inHand, { final: false });
    const known = this.#options.journal.state(push.id);
    if (known?.step === "done") {
      return this.#acknowledge(push.id, { ...known, state: known.outcome }, { final: true });
    }
    if (known?.step === "typing" || known?.step === "typed") {
      await this.#leftBehind(push);
      return await this.#end(push, { state: "unknown" });
    }
    if (era.end.signal.aborted) return;
    if (!ACTED_ON.includes(push.type)) return await this.#ignore(push);
    const turn = push.type === START ? START_TURN : push.agentSessionName ?? "";
    era.inHand.set(push.id, { state: "delivered" });
    await this.#inOrder(turn, () => this.#arrive(push, { turn, era }));
  }

  /** Reports an intermediate state. */
  report(id: string, progress: Progress): void {
    const { inHand } = this.#era;
    if (inHand.has(id)) inHand.set(id, progress);
    this.#acknowledge(id, progress, { final: false });
  }

  async #leftBehind(push: Push): Promise<void> {
    try {
      await this.#options.leftBehind(push);
    } catch (error) {
      this.#options.log(`push ${push.id}: its text may stay in the composer: ${errorText(error)}`);
    }
  }

  async #fault(push: Push): Promise<Reason | undefined> {
    if (!isEnough(push.sealed?.mode ?? "off", await this.#options.floor())) return "sealed_required";
    if (push.type === START) return undefined;
    if (push.agentSessionName === undefined) return "invalid_session_name";
    if (push.sealed) return undefined;
    return Body.safeParse(push.body).success ? undefined : "invalid_body";
  }

  /** Opens and queues the arrivals of one turn in order. `work` must not throw. */
  async #inOrder(turn: string, work: () => Promise<void>): Promise<void> {
    const done = (this.#arrivals.get(turn) ?? Promise.resolve()).then(work);
    this.#arrivals.set(turn, done);
    await done;
    if (this.#arrivals.get(turn) === done) this.#arrivals.delete(turn);
  }

  async #ignore(push: Push): Promise<void> {
    this.#options.log(`push ${push.id}: ignored, this listener does not act on type "${push.type}"`);
    await this.#end(push, { state: "ignored", reason: "unknown_type" });
  }

  /** Only authentic, recorded pushes take a place in the queue: forgeries must not fill it. */
  async #arrive(push: Push, { turn, era }: { turn: string; era: Era }): Promise<void> {
    const arrived = this.#options.now();
    const opened = await this.#open(push);
    if (opened === undefined || era.end.signal.aborted) return void era.inHand.delete(push.id);
    if ("state" in opened) {
      era.inHand.delete(push.id);
      return await this.#end(push, opened, arrived);
    }
    const taken = this.#queues.add(turn, () => this.#work(opened, { arrived, era }));
    if (taken) return this.report(push.id, { state: "delivered" });
    era.inHand.delete(push.id);
    // Without an answer it would block the relay's window, and with it every other session's messages.
    await this.#end(push, refused("rate_limited", QUEUE_FULL_WAIT_SECONDS), arrived);
  }

  /** The push with its text, recorded on disk; or its outcome; or undefined if it stays with the relay. */
  async #open(push: Push): Promise<Push | Outcome | undefined> {
    try {
      const fault = await this.#fault(push);
      if (fault !== undefined) return refused(fault);
      const { found, seal } = push.sealed ? await this.#options.unseal(push) : { found: push };
      if (seal === undefined) {
        if (!("state" in found)) await this.#options.journal.record(push.id, { step: "accepted" });
        return found;
      }
      const verdict = await this.#options.journal.take(push.id, seal);
      return verdict === "taken" ? found : refused(NOT_TAKEN[verdict]);
    } catch (error) {
      this.#options.log(`push ${push.id}: not taken, the host's files cannot be used: ${errorText(error)}`);
      return undefined;
    }
  }

  async #work(push: Push, { arrived, era }: { arrived: number; era: Era }): Promise<void> {
    const { signal } = era.end;
    try {
      if (signal.aborted) return;
      await this.#end(push, await this.#act(push, signal), arrived);
    } catch (error) {
      if (!(error instanceof Stopping)) await this.#failed(push, error);
    } finally {
      era.inHand.delete(push.id);
    }
  }

  async #act(push: Push, signal: AbortSignal): Promise<Outcome> {
    if (push.type !== START) return await this.#options.inject(this.#command(push), signal);
    const isOver = this.#options.now() >= this.#options.toLocalTime(push.expiresAt);
    return isOver ? { state: "expired" } : await this.#options.start(push);
  }

  #command(push: Push): Command {
    return {
      id: push.id,
      session: push.agentSessionName ?? "",
      body: Body.parse(push.body),
      expiresAt: this.#options.toLocalTime(push.expiresAt),
      sendAnyway: push.data?.sendAnyway === true,
    };
  }

  /** Nothing was typed: refused. Something may have been typed: unknown, and never typed again. */
  async #failed(push: Push, error: unknown): Promise<void> {
    this.#options.log(`push ${push.id}: failed: ${errorText(error)}`);
    const step = this.#options.journal.state(push.id)?.step;
    const why = push.type === START ? "start_failed" : "tmux_failed";
    await this.#end(push, step === "accepted" ? refused(why) : { state: "unknown" });
  }

  async #end(push: Push, outcome: Outcome, arrived: number = this.#options.now()): Promise<void> {
    if (push.sealed?.mode === "psk") this.#options.journal.promise(push.id);
    try {
      const { state, reason, retryAfterSeconds, agentSessionName } = outcome;
      const answer = { outcome: state, reason, retryAfterSeconds, agentSessionName };
      await this.#options.journal.record(push.id, { step: "done", ...answer });
      await this.#options.ended(push, outcome, this.#options.now() - arrived);
    } catch (error) {
      this.#options.log(`push ${push.id}: the journal cannot be written: ${errorText(error)}`);
    }
    this.#acknowledge(push.id, outcome, { final: true });
  }

  #acknowledge(id: string, answer: Answer, { final }: { final: boolean }): void {
    const { state, reason, retryAfterSeconds, agentSessionName } = answer;
    this.#options.acknowledge({ id, outcome: state, reason, retryAfterSeconds, agentSessionName, final });
  }
}

/** Messages that may wait for one session; more are refused. */
export const QUEUE_MAX = 100;

/** Messages of one session run one at a time, in order; sessions do not wait for one another. */
export class SessionQueues {
  readonly #queues = new Map<string, Mutex>();

  /** False if the session's queue is full. `work` must not throw. */
  add(session: string, work: () => Promise<void>): boolean {
    const queue = this.#queues.get(session) ?? new Mutex();
    if (queue.size >= QUEUE_MAX) return false;
    this.#queues.set(session, queue);
    void queue.run(work).then(() => {
      if (queue.size === 0 && this.#queues.get(session) === queue) this.#queues.delete(session);
    });
    return true;
  }

  /** Resolves when all accepted work is done. */
  async idle(): Promise<void> {
    await Promise.all([...this.#queues.values()].map((queue) => queue.idle()));
  }
}

/** Pushes awaiting their final acknowledgement. Beyond this, the oldest are acknowledged without proof. */
const PENDING_MAX = 10_000;

export interface AcknowledgerOptions {
  /** The secret this host shares with a phone. */
  secretOf(phone: string): Promise<CryptoKey | undefined>;
  /** The outcome of this push is kept whatever else arrives: only such an outcome gets a proof. */
  isLasting(id: string): boolean;
  send(ack: Acknowledgement): void;
  log(line: string): void;
}

interface Proving {
  secret: Promise<CryptoKey | undefined>;
  /** Acknowledgements of one push are sent in order. */
  sent: Promise<void>;
}

export class Acknowledger {
  readonly #options: AcknowledgerOptions;
  readonly #proving = new Map<string, Proving>();

  constructor(options: AcknowledgerOptions) {
    this.#options = options;
  }

  /** Called for each incoming push. */
  expect({ id, sealed, from }: Push): void {
    if (sealed?.mode !== "psk" || this.#proving.has(id)) return;
    const secret = this.#options.secretOf(from).catch((error) => {
      this.#options.log(`push ${id}: acknowledged without proof: ${error}`);
      return undefined;
    });
    this.#proving.set(id, { secret, sent: Promise.resolve() });
    if (this.#proving.size <= PENDING_MAX) return;
    for (const oldest of this.#proving.keys()) return void this.#proving.delete(oldest);
  }

  acknowledge(ack: Acknowledgement): void {
    const proving = this.#proving.get(ack.id);
    if (proving === undefined) return this.#options.send(ack);
    if (ack.final) this.#proving.delete(ack.id);
    const isProven = !ack.final || this.#options.isLasting(ack.id);
    proving.sent = proving.sent.then(async () => {
      const secret = await proving.secret;
      const proof = isProven && secret && await receiptProof(secret, { ...ack, state: ack.outcome });
      this.#options.send({ ...ack, ...(proof ? { proof } : {}) });
    });
  }
}
