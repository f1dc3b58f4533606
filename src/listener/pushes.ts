/** Takes pushes from the relay: each is journalled, waits its turn, and is answered. */
import { Mutex } from "../async/mutex.ts";
import { errorText } from "../async/error_text.ts";
import { isEnough, type Sealing } from "../crypto/mode.ts";
import type { Journal, TakeVerdict } from "../home/journal.ts";
import type { EventData } from "../protocol/frames.ts";
import { Body, type Push } from "../protocol/push.ts";
import type { PushState, Reason } from "../protocol/receipt.ts";
import type { Command } from "./inject/inject_host.ts";
import { type Outcome, type Progress, refused, Stopping } from "./inject/outcome.ts";
import type { Unsealed } from "./sealing.ts";

export type Acknowledgement = EventData<"push.ack">;

export type PushJournal = Pick<Journal, "state" | "record" | "take" | "promise">;

/** What the sender of a message is told to wait for whose session has as many waiting as it may. */
export const QUEUE_FULL_WAIT_SECONDS = 60;

const START = "agent.start";
const ACTED_ON: readonly string[] = ["agent.command", START];
/** Starts go one after the other; no session has this name. */
const START_TURN = "agent.start of this host";

/** What a sealed message is refused for that is not taken. */
const NOT_TAKEN = {
  used: "counter_used",
  old: "counter_old",
  uncounted: "counter_missing",
} as const satisfies Record<Exclude<TakeVerdict, "taken">, Reason>;

interface Said {
  state: PushState;
  reason?: string | undefined;
  retryAfterSeconds?: number | undefined;
  agentSessionName?: string | undefined;
}

export interface PushHost {
  journal: PushJournal;
  queues: SessionQueues;
  inject(command: Command): Promise<Outcome>;
  start(push: Push): Promise<Outcome>;
  /** A crash interrupted its injection: its text may still be in the composer. */
  leftBehind(push: Push): Promise<void>;
  acknowledge(ack: Acknowledgement): void;
  /** Once for each push that ended, with the milliseconds since it came. */
  ended(push: Push, outcome: Outcome, elapsedMs: number): Promise<void>;
  log(line: string): void;
  now(): number;
  /** This host's epoch milliseconds for one of the relay's. */
  toLocalTime(relayMs: number): number;
  unseal(push: Push): Promise<Unsealed>;
  /** The weakest sealing that this host takes now. */
  floor(): Promise<Sealing>;
}

export class PushIntake {
  #host: PushHost;
  #inHand = new Map<string, Progress>();
  /** By turn: the arrivals that are not in its queue yet. */
  #arrivals = new Map<string, Promise<void>>();
  #stopping = false;
  /** Work of an earlier era was dropped. */
  #era = 0;

  constructor(host: PushHost) {
    this.#host = host;
  }

  /** Takes nothing more: what comes now stays with the relay. */
  stop(): void {
    this.#stopping = true;
  }

  /** Lets go of what waits: another listener of this device took over, and gets it from the relay. */
  drop(): void {
    this.#era += 1;
    this.#inHand.clear();
  }

  /** Answers what is known already; accepts what is new. Must not be awaited for the outcome. */
  async receive(push: Push): Promise<void> {
    const inHand = this.#inHand.get(push.id);
    if (inHand) return this.#acknowledge(push.id, inHand, { final: false });
    const known = this.#host.journal.state(push.id);
    if (known?.step === "done") {
      return this.#acknowledge(push.id, { ...known, state: known.outcome }, { final: true });
    }
    if (known?.step === "typing" || known?.step === "typed") {
      await this.#host.leftBehind(push);
      return await this.#end(push, { state: "unknown" });
    }
    if (this.#stopping) return;
    if (!ACTED_ON.includes(push.type)) return await this.#ignore(push);
    const turn = push.type === START ? START_TURN : push.agentSessionName ?? "";
    this.#inHand.set(push.id, { state: "delivered" });
    await this.#inOrder(turn, () => this.#arrive(push, turn));
  }

  /** Reports a state on the way. */
  report(id: string, progress: Progress): void {
    this.#inHand.set(id, progress);
    this.#acknowledge(id, progress, { final: false });
  }

  async #fault(push: Push): Promise<Reason | undefined> {
    if (!isEnough(push.sealed?.mode ?? "off", await this.#host.floor())) return "sealed_required";
    if (push.type === START) return undefined;
    if (push.agentSessionName === undefined) return "invalid_session_name";
    if (push.sealed) return undefined;
    return Body.safeParse(push.body).success ? undefined : "invalid_body";
  }

  /** What comes for one turn is opened and queued in the order in which it came. `work` must not throw. */
  async #inOrder(turn: string, work: () => Promise<void>): Promise<void> {
    const done = (this.#arrivals.get(turn) ?? Promise.resolve()).then(work);
    this.#arrivals.set(turn, done);
    await done;
    if (this.#arrivals.get(turn) === done) this.#arrivals.delete(turn);
  }

  async #ignore(push: Push): Promise<void> {
    this.#host.log(`push ${push.id}: ignored, this listener does not act on type "${push.type}"`);
    await this.#end(push, { state: "ignored", reason: "unknown_type" });
  }

  /** Only what is authentic and recorded takes a place in the queue: forgeries must not fill it. */
  async #arrive(push: Push, turn: string): Promise<void> {
    const [arrived, era] = [this.#host.now(), this.#era];
    const opened = await this.#open(push);
    if (era !== this.#era) return;
    if (opened === undefined) return void this.#inHand.delete(push.id);
    if ("state" in opened) {
      this.#inHand.delete(push.id);
      return await this.#end(push, opened, arrived);
    }
    const taken = this.#host.queues.add(turn, () => this.#work(opened, { arrived, era }));
    if (taken) return this.report(push.id, { state: "delivered" });
    this.#inHand.delete(push.id);
    // Left without an answer it would take up the relay's window, and with it every other session's messages.
    await this.#end(push, refused("rate_limited", QUEUE_FULL_WAIT_SECONDS), arrived);
  }

  /** The push with its text, on the disk; or how it ends; or undefined when it is left with the relay. */
  async #open(push: Push): Promise<Push | Outcome | undefined> {
    try {
      const fault = await this.#fault(push);
      if (fault !== undefined) return refused(fault);
      const { found, seal } = push.sealed ? await this.#host.unseal(push) : { found: push };
      if (seal === undefined) {
        if (!("state" in found)) await this.#host.journal.record(push.id, { step: "accepted" });
        return found;
      }
      const verdict = await this.#host.journal.take(push.id, seal);
      return verdict === "taken" ? found : refused(NOT_TAKEN[verdict]);
    } catch (error) {
      this.#host.log(`push ${push.id}: not taken, the host's files cannot be used: ${errorText(error)}`);
      return undefined;
    }
  }

  async #work(push: Push, { arrived, era }: { arrived: number; era: number }): Promise<void> {
    try {
      if (this.#stopping || era !== this.#era) return;
      await this.#end(push, await this.#act(push), arrived);
    } catch (error) {
      if (!(error instanceof Stopping)) await this.#failed(push, error);
    } finally {
      if (era === this.#era) this.#inHand.delete(push.id);
    }
  }

  async #act(push: Push): Promise<Outcome> {
    if (push.type !== START) return await this.#host.inject(this.#command(push));
    const isOver = this.#host.now() >= this.#host.toLocalTime(push.expiresAt);
    return isOver ? { state: "expired" } : await this.#host.start(push);
  }

  #command(push: Push): Command {
    return {
      id: push.id,
      session: push.agentSessionName ?? "",
      body: Body.parse(push.body),
      expiresAt: this.#host.toLocalTime(push.expiresAt),
      sendAnyway: push.data?.sendAnyway === true,
    };
  }

  /** Nothing typed: refused. Perhaps typed: unknown, and never again. */
  async #failed(push: Push, error: unknown): Promise<void> {
    this.#host.log(`push ${push.id}: failed: ${errorText(error)}`);
    const step = this.#host.journal.state(push.id)?.step;
    const why = push.type === START ? "start_failed" : "tmux_failed";
    await this.#end(push, step === "accepted" ? refused(why) : { state: "unknown" });
  }

  async #end(push: Push, outcome: Outcome, arrived: number = this.#host.now()): Promise<void> {
    if (push.sealed?.mode === "psk") this.#host.journal.promise(push.id);
    try {
      const { state, reason, retryAfterSeconds, agentSessionName } = outcome;
      const said = { outcome: state, reason, retryAfterSeconds, agentSessionName };
      await this.#host.journal.record(push.id, { step: "done", ...said });
      await this.#host.ended(push, outcome, this.#host.now() - arrived);
    } catch (error) {
      this.#host.log(`push ${push.id}: the journal cannot be written: ${errorText(error)}`);
    }
    this.#acknowledge(push.id, outcome, { final: true });
  }

  #acknowledge(id: string, said: Said, { final }: { final: boolean }): void {
    const { state, reason, retryAfterSeconds, agentSessionName } = said;
    this.#host.acknowledge({ id, outcome: state, reason, retryAfterSeconds, agentSessionName, final });
  }
}

/** More messages than this waiting for one session are refused. */
export const QUEUE_MAX = 100;

export class SessionQueues {
  readonly #queues = new Map<string, Mutex>();

  /** False when the session's queue is full. `work` must not throw. */
  add(session: string, work: () => Promise<void>): boolean {
    const queue = this.#queues.get(session) ?? new Mutex();
    if (queue.size >= QUEUE_MAX) return false;
    this.#queues.set(session, queue);
    void queue.run(work).then(() => {
      if (!queue.isBusy && this.#queues.get(session) === queue) this.#queues.delete(session);
    });
    return true;
  }

  /** Resolves when everything that was taken is done. */
  async idle(): Promise<void> {
    await Promise.all([...this.#queues.values()].map((queue) => queue.idle()));
  }
}
