/** Accepts pushes from the relay: each is journalled, waits its turn, is carried out, and is acknowledged. */
import { delay, systemClock } from "../async/clock.ts";
import { errorText } from "../async/error_text.ts";
import type { Journal } from "../home/journal.ts";
import { askersRun } from "../protocol/late_answer.ts";
import { Body, isAtOnce, isInTurn, type Later, laterOf, type Push, rulesOf } from "../protocol/push.ts";
import type { PushState } from "../protocol/receipt.ts";
import type { SessionEntry } from "../protocol/session.ts";
import type { Acknowledgement } from "./acknowledger.ts";
import {
  beginTyping,
  type Command,
  type Outcome,
  type Progress,
  refused,
  Stopping,
  TakenOver,
  type Turn,
} from "./inject/context.ts";
import type { PushSteps } from "./push_steps.ts";
import { leftIn, type OpenedPush, type OpenOptions, PushOpener } from "./sealing.ts";
import {
  ARRIVALS_MAX,
  DELIVERED,
  Era,
  type EraOptions,
  expiryOf,
  type InHand,
  type LaterPush,
  laterPush,
  QUEUE_FULL_WAIT_SECONDS,
  type RelayTime,
  SessionQueues,
  turnOf,
  waitingProgress,
} from "./waiting_pushes.ts";

export type PushJournal = Pick<Journal, "state" | "record" | "take" | "promise">;

/** How long a message waits before the host's files are tried again. */
export const FILES_RETRY_MS = 500;

const WITHDRAWN: Outcome = { state: "withdrawn" };

type Answer = Omit<Acknowledgement, "id" | "outcome" | "final" | "proof"> & { state: PushState };

export interface PushOptions extends PushSteps, OpenOptions, RelayTime, EraOptions {
  journal: PushJournal;
  acknowledge(ack: Acknowledgement): void;
  queues?: SessionQueues;
  log(line: string): void;
}

/** The steps of a push: `receive`, `#arrive`, `#openInTurn`, the queue of its session, `#work`, `#act`, `#end`. */
export class PushIntake {
  readonly #options: PushOptions;
  readonly #queues: SessionQueues;
  /** By turn: pushes that are opened and queued in order. */
  readonly #arrivals = new SessionQueues({ max: ARRIVALS_MAX });
  #era: Era;
  readonly #opener: PushOpener;

  constructor(options: PushOptions) {
    this.#options = options;
    this.#queues = options.queues ?? new SessionQueues();
    this.#opener = new PushOpener(options);
    this.#era = new Era(options);
  }

  /** Accepts nothing more: new pushes stay with the relay, and so do those that wait. */
  stop(): void {
    this.#era.end.abort(new Stopping("the daemon stops"));
  }

  /** Resolves when every push that was accepted has ended. */
  async idle(): Promise<void> {
    await this.#queues.idle();
  }

  /** Takes a new inventory: messages that waited for it may be typed now. */
  observe(sessions: readonly SessionEntry[]): void {
    if (!this.#era.end.signal.aborted) this.#era.later.observe(sessions);
  }

  /** Drops the waiting pushes: another listener of this device took over and gets them from the relay. */
  drop(): void {
    this.#era.end.abort(new TakenOver("another listener took over"));
    this.#era.later.clear();
    this.#era = new Era(this.#options);
  }

  /** Acknowledges a known push again; accepts a new one. Resolves before the outcome is known. */
  async receive(push: Push): Promise<void> {
    const era = this.#era;
    const inHand = era.inHand.get(push.id);
    if (inHand) return this.#acknowledge(push.id, inHand.progress, { final: false });
    const known = this.#options.journal.state(push.id);
    if (known?.step === "done") {
      return this.#acknowledge(push.id, { ...known, state: known.outcome }, { final: true });
    }
    if (era.end.signal.aborted) return;
    const atOnce = isAtOnce(push.type);
    if (!atOnce && !isInTurn(push.type)) return await this.#ignore(push);
    // An answer waits for the agent, and nothing waits behind it.
    const turn = push.type === "ask.answer" ? push.id : turnOf(push);
    const isInterrupted = known?.step === "typing" || known?.step === "typed";
    const step = isInterrupted || atOnce ? "typing" : "waiting";
    const isCancelled = known?.step === "left" && known.isCancelled === true;
    const takeBack = isCancelled ? { takeBack: WITHDRAWN } : {};
    era.inHand.set(push.id, { push, progress: DELIVERED, turn: { step, ...takeBack } });
    const arrived = this.#arrivals.add(turn, async () => {
      if (isInterrupted) return await this.#endInterrupted(push, era);
      await (atOnce ? this.#actAtOnce(push, era) : this.#arrive(push, { turn, era }));
    });
    if (push.type === "agent.cancel") era.cancelling(push, arrived);
    if (arrived !== undefined) return await arrived;
    era.inHand.delete(push.id);
    // An interrupted push may have been submitted: it stays with the relay.
    if (!isInterrupted) await this.#refuse(push, "rate_limited");
  }

  /** The relay is about to store this message. */
  expect: PushSteps["expect"] = (push) => {
    if (!this.#era.end.signal.aborted) this.#options.expect(push);
  };

  /** Reports an intermediate state. */
  report(id: string, progress: Progress): void {
    const inHand = this.#era.inHand.get(id);
    if (inHand !== undefined) inHand.progress = progress;
    this.#acknowledge(id, progress, { final: false });
  }

  /**
   * Ends a push that a listener was typing when it was killed. Later messages for the session must not be typed behind
   * its text.
   */
  async #endInterrupted(push: Push, era: Era): Promise<void> {
    const known = this.#options.journal.state(push.id);
    if (!era.end.signal.aborted && (known?.step === "typing" || known?.step === "typed")) {
      let opened: OpenedPush | undefined;
      try {
        opened = await this.#opener.reopen(push, known);
        if (opened !== undefined) await this.#options.leftBehind(opened, known, era.end.signal);
      } catch (error) {
        this.#options.log(`push ${push.id}: its text may stay in the composer: ${errorText(error)}`);
      }
      await this.#end(opened ?? push, { state: "unknown", reason: "interrupted" });
    }
    era.inHand.delete(push.id);
  }

  async #ignore(push: Push): Promise<void> {
    this.#options.log(`push ${push.id}: ignored, this listener does not act on type "${push.type}"`);
    await this.#end(push, { state: "ignored", reason: "unknown_type" });
  }

  /** Only authentic, recorded pushes take a place in the queue: forgeries must not fill it. */
  async #arrive(push: Push, { turn, era }: { turn: string; era: Era }): Promise<void> {
    const arrived = this.#options.now();
    const known = this.#options.journal.state(push.id);
    if (known?.step === "done") {
      // It was cancelled in the meantime. If it is no longer in hand, that was acknowledged already.
      if (!era.inHand.delete(push.id)) return;
      return this.#acknowledge(push.id, { ...known, state: known.outcome }, { final: true });
    }
    const opened = await this.#openInTurn(push, era);
    if (opened === undefined || era.end.signal.aborted) return void era.inHand.delete(push.id);
    if ("state" in opened) {
      era.inHand.delete(push.id);
      return await this.#end(push, opened, arrived);
    }
    const inHand = era.inHand.get(push.id);
    // The audit log also has the length of a text that is withdrawn.
    if (inHand !== undefined) inHand.push = opened;
    const enter = (): Promise<void> | undefined =>
      this.#queues.add(turn, () => this.#work(opened, { arrived, era }));
    const later = laterOf(opened);
    if (later === undefined ? enter() !== undefined : this.#waitFor(later, opened, { enter, era })) {
      if (later !== undefined && later !== "invalid") return this.report(push.id, waitingProgress(later));
      return era.reportSoon(push.id, () => this.#acknowledge(push.id, DELIVERED, { final: false }));
    }
    era.inHand.delete(push.id);
    // Without an answer it would block the relay's window, and with it every other session's messages.
    await this.#refuse(opened, later === "invalid" ? "invalid_body" : "rate_limited", arrived);
  }

  /** Keeps the push until `later`. False if it cannot wait. */
  #waitFor(
    later: Later | "invalid",
    push: OpenedPush,
    { enter, era }: { enter: () => Promise<void> | undefined; era: Era },
  ): boolean {
    if (later === "invalid") return false;
    const release: LaterPush["release"] = async (meant) => {
      Object.assign(era.inHand.get(push.id)?.turn ?? {}, { meant });
      const running = enter();
      if (running === undefined) era.inHand.delete(push.id);
      await (running ?? this.#refuse(push, "rate_limited"));
    };
    return era.later.add(push.id, laterPush(push, { later, time: this.#options, release }));
  }

  async #refuse(push: Push, reason: "invalid_body" | "rate_limited", arrived?: number): Promise<void> {
    const wait = reason === "rate_limited" ? QUEUE_FULL_WAIT_SECONDS : undefined;
    await this.#end(push, refused(reason, wait), arrived);
  }

  /**
   * Opens the push, and retries while the host's files cannot be used: later messages of the session must not overtake
   * it.
   */
  async #openInTurn(push: Push, { end: { signal } }: Era): Promise<OpenedPush | Outcome | undefined> {
    const { clock = systemClock } = this.#options;
    for (let tries = 0; !signal.aborted; tries++) {
      if (tries > 0 && this.#isExpired(push)) return { state: "expired" };
      const opened = await this.#opener.open(push, { isFirst: tries === 0 });
      if (opened !== undefined) return opened;
      if (tries === 0) this.report(push.id, { state: "held", reason: "host_files" });
      await delay(FILES_RETRY_MS, { clock, signal }).catch(() => {});
    }
    return undefined;
  }

  async #work(push: OpenedPush, { arrived, era }: { arrived: number; era: Era }): Promise<void> {
    const { signal } = era.end;
    try {
      const cancelling = era.inHand.get(push.id)?.cancelling;
      if (cancelling) await cancelling;
      const inHand = era.inHand.get(push.id);
      if (signal.aborted || inHand === undefined) return;
      if (await this.#endedBefore(push, era)) return;
      const outcome = await this.#act(push, { turn: inHand.turn, signal });
      // The cancellation has already ended what it found waiting.
      if (outcome.state !== "withdrawn" || inHand.turn.step !== "withdrawn") {
        await this.#end(push, outcome, arrived);
      }
    } catch (error) {
      if (!(error instanceof Stopping)) await this.#failed(push, error);
    } finally {
      era.inHand.delete(push.id);
    }
  }

  /** Ends a push that had begun before a hand-over. False if it had not begun. */
  async #endedBefore(push: Push, era: Era): Promise<boolean> {
    const known = this.#options.journal.state(push.id);
    if (known?.step === "typing" || known?.step === "typed") await this.#endInterrupted(push, era);
    else if (known?.step === "done") {
      this.#acknowledge(push.id, { ...known, state: known.outcome }, { final: true });
    } else return false;
    return true;
  }

  async #act(push: OpenedPush, { turn, signal }: { turn: Turn; signal: AbortSignal }): Promise<Outcome> {
    const { type } = push;
    if (!isInTurn(type)) throw new Error(`the type "${type}" takes no turn`);
    if (type === "agent.command") return await this.#options.inject(this.#command(push, turn), signal);
    if (this.#isExpired(push)) return { state: "expired" };
    return beginTyping(turn) ? await this.#options.inTurn[type](push) : { state: "withdrawn" };
  }

  #isExpired(push: OpenedPush): boolean {
    return this.#options.now() >= expiryOf(push, this.#options);
  }

  #command(push: OpenedPush, turn: Turn): Command {
    const options = this.#options;
    return {
      id: push.id,
      session: push.agentSessionName ?? "",
      body: Body.parse(push.body),
      get expiresAt() {
        return expiryOf(push, options);
      },
      sendAnyway: push.data?.sendAnyway === true,
      run: askersRun(push),
      asker: options.askerOf(push),
      turn,
      left: leftIn(options.journal, push),
    };
  }

  /** It stays in hand until it has ended, because the relay may send it again before that. */
  async #actAtOnce(push: Push, era: Era): Promise<void> {
    let opened: OpenedPush | undefined;
    try {
      const found = await this.#opener.open(push);
      if (found === undefined || era.end.signal.aborted) return;
      if ("state" in found) return await this.#end(push, found);
      opened = found;
      await this.#end(opened, await this.#actOn(opened, era));
    } catch (error) {
      await this.#failed(opened ?? push, error);
    } finally {
      era.inHand.delete(push.id);
    }
  }

  async #actOn(push: OpenedPush, era: Era): Promise<Outcome> {
    const { type } = push;
    if (!isAtOnce(type)) throw new Error(`the type "${type}" takes a turn`);
    if (type === "agent.cancel") return await this.#withdraw(push, era);
    if (this.#isExpired(push)) return { state: "expired" };
    // It waits for the agent.
    if (type === "ask.answer") this.report(push.id, { state: "delivered" });
    return await this.#options.atOnce[type](push);
  }

  /**
   * Cancels a message, which is then either submitted or withdrawn. One that has not arrived is recorded as withdrawn.
   * If the text is already in the composer, the injection that typed it removes it and reports the outcome.
   */
  async #withdraw(push: Push, era: Era): Promise<Outcome> {
    const { sealed, body, inReplyTo } = push;
    if (inReplyTo === undefined || (sealed && body !== inReplyTo)) return refused("invalid_body");
    const { journal } = this.#options;
    const known = journal.state(inReplyTo);
    if (known?.step === "done" && known.outcome === "withdrawn") return { state: "submitted" };
    const inHand = era.inHand.get(inReplyTo);
    // Only pushes for the same session arrive in order.
    if (inHand !== undefined && turnOf(inHand.push) !== turnOf(push)) return refused("invalid_session_name");
    if (inHand?.turn.step === "held" && known?.step !== "done") {
      await this.#takeBack(inHand, { state: "withdrawn" });
      return { state: "submitted" };
    }
    if (known?.step === "left") {
      if (inHand !== undefined) inHand.turn.takeBack ??= WITHDRAWN;
      await journal.record(inReplyTo, { step: "left", isCancelled: true });
      return { state: "submitted" };
    }
    // The journal also says "typing" for a message that waits again because tmux refused to type it.
    const isOpen = inHand === undefined ? known?.step !== "typing" : inHand.turn.step === "waiting";
    if (!isOpen || ["typed", "done"].includes(known?.step ?? "")) return refused("already_typed");
    if (inHand === undefined) {
      const isSealed = sealed?.mode === "psk";
      await journal.record(inReplyTo, { step: "done", outcome: "withdrawn" }, { isSealed });
      return { state: "submitted" };
    }
    await this.#withdrawWaiting(inHand, era, { state: "withdrawn" });
    return { state: "submitted" };
  }

  /** Ends the pushes of a revoked phone: waiting ones are not typed, and typed ones get no Enter. */
  async revoke(phone: string): Promise<void> {
    const era = this.#era;
    const own = [...era.inHand.values()].filter(({ push }) => push.from === phone);
    await Promise.all(own.map((inHand) => {
      const isWaiting = inHand.turn.step === "waiting";
      const outcome = refused("unsealable");
      return isWaiting ? this.#withdrawWaiting(inHand, era, outcome) : this.#takeBack(inHand, outcome);
    }));
  }

  /**
   * Makes the injection remove the text instead of pressing Enter. The next listener does so if this one ends before.
   */
  async #takeBack({ push, turn }: InHand, outcome: Outcome): Promise<void> {
    const { journal, log } = this.#options;
    turn.takeBack ??= outcome;
    if (journal.state(push.id)?.step !== "left") return;
    await journal.record(push.id, { step: "typed" }).catch((error) => {
      log(`push ${push.id}: the journal cannot be written: ${errorText(error)}`);
    });
  }

  /** Ends a waiting push, and marks it as withdrawn so that it is not typed. */
  async #withdrawWaiting(inHand: InHand, era: Era, outcome: Outcome): Promise<void> {
    const { push, turn } = inHand;
    turn.step = "withdrawn";
    era.later.remove(push.id);
    inHand.delivered?.();
    era.inHand.delete(push.id);
    await this.#end(push, outcome);
  }

  /** Ends a push whose step threw: `refused` if nothing was typed, else `unknown`. It is never typed again. */
  async #failed(push: Push, error: unknown): Promise<void> {
    this.#options.log(`push ${push.id}: failed: ${errorText(error)}`);
    const step = this.#options.journal.state(push.id)?.step;
    const isOpen = step === "accepted" || step === "left";
    await this.#end(push, isOpen ? refused(rulesOf(push.type).fails ?? "tmux_failed") : { state: "unknown" });
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
    this.#era.inHand.get(id)?.delivered?.();
    const { state, reason, retryAfterSeconds, agentSessionName } = answer;
    this.#options.acknowledge({ id, outcome: state, reason, retryAfterSeconds, agentSessionName, final });
  }
}
