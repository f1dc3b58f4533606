/**
 * Agents' own dialogs as cards: a hook that waits with a dialog gets the answer of the first phone that gives one, or
 * nothing, and then the agent asks at the computer.
 */
import type { DialogAnswer } from "../../agents/hooks.ts";
import { errorText } from "../../async/error_text.ts";
import { TokenBuckets } from "../../async/token_bucket.ts";
import { retryRelay } from "../../client/relay_error.ts";
import type { HostPush } from "../../crypto/host_push.ts";
import type { DialogCall, DialogReply, HookReport } from "../../home/control_socket.ts";
import type { HostKeys } from "../../home/host_sealing.ts";
import { ASK_EVENT, ASK_REPORT_MS, DIALOG_LIMIT_MS } from "../../home/notify_daemon.ts";
import { cardFault } from "../../protocol/ask.ts";
import type { PartInput } from "../../protocol/key_input.ts";
import { isSessionName } from "../../protocol/names.ts";
import type { RequestPart } from "../../protocol/pane_frame.ts";
import type { Push, PushPage } from "../../protocol/push.ts";
import { decodeAnswer } from "../../protocol/sealed_text.ts";
import { type Outcome, refused } from "../inject/context.ts";
import type { Policy } from "../inject/policy.ts";
import {
  isNewTurn,
  isOfItsAgent,
  LINK_LOST_MS,
  lookAt,
  lookFor,
  OpenCalls,
  signOf,
  wasAnsweredElsewhere,
  watchCard,
  type WatchOptions,
} from "./watch.ts";
import {
  aboutText,
  askedAs,
  type Card,
  cardContent,
  dialogAnswer,
  FETCHED,
  isOfAllShown,
  isToAskAgain,
  keptContent,
  newCard,
  partOf,
} from "./card.ts";

/** How long an agent waits for a phone: a hook's own limit is a little longer. */
export const CARD_SECONDS = Math.floor(DIALOG_LIMIT_MS / 1_000);
/** Cards open at once; further dialogs open only at the computer. */
export const CARDS_MAX = 32;
/** Pages of open questions in which a new listener looks for the cards of one that was killed. */
const PAGES_SWEPT = 20;
/** The local user counts as being at the computer if they pressed a key within this time. */
export const LOCAL_ACTIVE_MS = 60_000;
/** An agent that works without its dialog has taken an answer if nothing contradicts that for this long. */
export const APPLIED_MS = 3_000;
/** If nothing shows within this time whether the agent took the answer, its outcome is `unknown`. */
export const APPLIED_LIMIT_MS = 20_000;

export interface CardsOptions extends WatchOptions {
  keys: Pick<HostKeys, "deviceId" | "phones">;
  policy: Pick<Policy, "approval">;
  /** Regular expressions of the configuration. */
  neverAllow: readonly string[];
  isMuted(report: HookReport): Promise<boolean>;
  /** Throws RelayError. */
  send(push: HostPush, options: { signal: AbortSignal }): Promise<unknown>;
  /** A page of the account's open questions, before this place in the history. Throws RelayError. */
  openQuestions(before: string): Promise<PushPage>;
  /** Reports to the relay that this question no longer waits for an answer. */
  withdraw(question: string): void;
  /** The id of the dialog on the session's screen. */
  dialogOnScreen(session: string): string | undefined;
  /** Takes a report as if a hook had sent it. */
  report(report: HookReport): void;
}

export class Cards {
  readonly #options: CardsOptions;
  /** By question. */
  readonly #cards = new Map<string, Card>();
  readonly #calls = new OpenCalls();
  readonly #fetched = new TokenBuckets(FETCHED);
  /** By session: cards that are being made. */
  readonly #preparing = new Map<string, Set<Promise<unknown>>>();
  /** Withdrawn questions, until the relay's own limit has ended them: withdrawn again after a reconnect. */
  readonly #withdrawn = new Map<string, number>();
  /** True once the questions that a killed listener left open were looked for. */
  #hasSwept = false;
  readonly #stop = new AbortController();
  readonly #neverAllow: readonly RegExp[];

  constructor(options: CardsOptions) {
    this.#options = options;
    this.#neverAllow = options.neverAllow.map((pattern) => new RegExp(pattern, "iu"));
  }

  /** Asks the phones about a hook's dialog; undefined if the agent should ask at the computer. Never throws. */
  async ask(
    report: HookReport,
    call: DialogCall & { gone: AbortSignal },
  ): Promise<DialogReply | undefined> {
    try {
      const card = await this.#prepare(report, call);
      if (card === undefined) return undefined;
      return await this.#ask(card.card, { ...call, report, push: card.push });
    } catch (error) {
      this.#options.log(`card: the dialog opens at the computer: ${errorText(error)}`);
      return undefined;
    }
  }

  /** Adds the session that an answer was sealed for, since it names only its question. None without a card. */
  placed(push: Push): Push {
    if (push.type !== "ask.answer") return push;
    const { agentSessionName: _claimed, ...answer } = push;
    const card = this.#cards.get(push.inReplyTo ?? "");
    return card === undefined ? answer : { ...answer, agentSessionName: card.session };
  }

  /** True if a card has notified the phones of this session's dialog. Waits for one that is not stored yet. */
  async covers(session: string): Promise<boolean> {
    await Promise.allSettled(this.#preparing.get(session) ?? []);
    const cards = [...this.#cards.values()].filter(({ place }) => place.session === session);
    return (await Promise.all(cards.map(({ stored }) => stored.promise))).includes(true);
  }

  /**
   * An answer was refused, and the relay takes no second one for its question. If no paired phone gave it, the dialog is
   * asked again as a new question: nobody else may close it. Otherwise it opens at the computer.
   */
  refused({ inReplyTo = "" }: Push, { reason }: Pick<Outcome, "reason">): void {
    const card = this.#cards.get(inReplyTo);
    if (card === undefined || card.answer !== undefined) return;
    if (!isToAskAgain(card, reason)) return card.end.abort();
    card.isAskedAgain = true;
    card.news.wake();
  }

  /** A part of the request that a card of this session shows; undefined when the phone has fetched too much. */
  part(
    { card: id, at }: PartInput,
    { session, phone }: { session: string; phone: string },
  ): RequestPart | undefined {
    const card = this.#cards.get(id);
    const text = card?.place.session === session ? partOf(card, at) : "";
    const wait = this.#fetched.take(phone, this.#options.clock.elapsed(), text.length);
    return wait > 0 ? undefined : { card: id, at, text };
  }

  /** Gives an opened answer to the waiting hook. Resolves once the agent's next steps show what became of it. */
  async answer(push: Push): Promise<Outcome> {
    const card = this.#cards.get(push.inReplyTo ?? "");
    if (card === undefined) return refused("dialog_gone");
    const sent = decodeAnswer(push.body ?? "");
    return { ...await this.#give(card, push, { sent }), about: aboutText(card.data, sent?.answer) };
  }

  async #give(card: Card, push: Push, { sent }: { sent: ReturnType<typeof decodeAnswer> }): Promise<Outcome> {
    if (push.sealed?.mode !== "psk") return refused("sealed_required");
    const phones = await this.#options.keys.phones();
    if (!phones.some(({ deviceId }) => deviceId === push.from)) return refused("dialog_not_allowed");
    const answer = sent?.question === card.id ? dialogAnswer(sent.answer) : undefined;
    if (sent === undefined || answer === undefined || cardFault(card.data, sent.answer) !== undefined) {
      return refused("invalid_body");
    }
    if (!await isOfAllShown(card, sent.answer)) return refused("invalid_body");
    const { signal } = this.#stop;
    if (await lookFor(card, { ...this.#options, signal }) === "gone") return refused("dialog_gone");
    // Checked only now: another answer may have come meanwhile.
    if (card.answer !== undefined || card.end.signal.aborted) return refused("dialog_gone");
    card.dialog = this.#options.dialogOnScreen(card.place.session);
    card.answer = answer;
    // It is not fetched anymore, and the card stays until the agent has gone on.
    card.text = undefined;
    card.news.wake();
    return await this.#applied(card);
  }

  /** Takes a hook's report, which may show that the dialog was answered, or that an answer was taken. */
  hook(report: HookReport): void {
    this.#calls.note(report);
    for (const card of [...this.#cards.values()].filter((one) => isOfItsAgent(report, one))) {
      if (card.answer === undefined && wasAnsweredElsewhere(report, card)) card.end.abort();
      const sign = card.answer === undefined ? undefined : signOf(report, card);
      // A call that ran in spite of a rejection shows even before the hook took the answer.
      if (sign === "gone" || sign !== undefined && card.isTaken === true && card.sign === undefined) {
        card.sign = sign;
        card.signAt = this.#options.clock.elapsed();
      }
      if (card.answer !== undefined && isNewTurn(report)) card.isFollowed = true;
      card.news.wake();
    }
  }

  /** A new connection to the relay: repeats what it may have missed. */
  connected(): void {
    for (const id of this.#withdrawn.keys()) this.#options.withdraw(id);
    void this.#sweep();
  }

  /** Withdraws the cards that a killed listener left open: a phone would show them in place of what the screen asks now. */
  async #sweep(): Promise<void> {
    const { keys, openQuestions, log } = this.#options;
    if (this.#hasSwept) return;
    this.#hasSwept = true;
    try {
      if ((await keys.phones()).length === 0) return;
      let before: string | undefined = "end";
      for (let page = 0; page < PAGES_SWEPT && before !== undefined && !this.#stop.signal.aborted; page++) {
        const { pushes, next } = await openQuestions(before);
        for (const { push: { id, data } } of pushes) {
          if (data?.["replyTo"] === keys.deviceId && !this.#cards.has(id)) this.#withdraw({ id });
        }
        before = next;
      }
    } catch (error) {
      this.#hasSwept = false;
      log(`card: cannot look for what an earlier listener left open: ${errorText(error)}`);
    }
  }

  /** Ends all cards: every dialog opens at the computer. */
  stop(): void {
    this.#stop.abort();
    for (const { end } of this.#cards.values()) end.abort();
  }

  async #prepare(report: HookReport, call: DialogCall): Promise<{ card: Card; push: HostPush } | undefined> {
    const { session = "" } = report;
    const preparing = this.#cardFor(report, call);
    const all = this.#preparing.get(session) ?? new Set();
    this.#preparing.set(session, all.add(preparing));
    try {
      return await preparing;
    } finally {
      all.delete(preparing);
      if (all.size === 0) this.#preparing.delete(session);
    }
  }

  async #cardFor(
    report: HookReport,
    { dialog, isShown }: DialogCall,
  ): Promise<{ card: Card; push: HostPush } | undefined> {
    const { session, cwd } = report;
    const { policy, keys, clock } = this.#options;
    if (session === undefined || !isSessionName(session) || this.#stop.signal.aborted) return undefined;
    if (!this.#options.isLinked()) throw new Error("the relay is away");
    const phones = await keys.phones();
    if (phones.length === 0 || await this.#options.isMuted(report)) return undefined;
    const view = await this.#options.look({ session });
    if (view === undefined) throw new Error(`cannot find the session "${session}"`);
    // A clock that was set back makes the last key lie in the future.
    const sinceKeyMs = Math.abs(clock.now() - view.lastKeyAt);
    if (!isShown && sinceKeyMs < LOCAL_ACTIVE_MS) return undefined;
    const full = await cardContent(dialog, { policy, directory: cwd, neverAllow: this.#neverAllow });
    const content = full && keptContent(full, this.#cards.values());
    const open = [...this.#cards.values()].filter(({ answer }) => answer === undefined);
    if (content === undefined || open.length >= CARDS_MAX) return undefined;
    const host = keys.deviceId;
    const asker = { timeoutSeconds: CARD_SECONDS, replyTo: host, listener: host };
    const card = newCard({
      body: content.body,
      text: content.text,
      session,
      data: { ...content.data, ...asker },
      asker: report,
      tool: this.#calls.of(report),
      isShown,
      place: view.place,
      lastKeyAt: view.lastKeyAt,
    }, { clock, seconds: CARD_SECONDS });
    const push = askedAs(card, { clock, host, phones });
    // Added before it is sealed, so that others that come meanwhile count it.
    this.#cards.set(card.id, card);
    push.catch(() => {
      this.#cards.delete(card.id);
      card.stored.resolve(false);
    });
    return { card, push: await push };
  }

  async #ask(
    card: Card,
    { report, push, gone }: { report: HookReport; push: HostPush; gone: AbortSignal },
  ): Promise<DialogReply | undefined> {
    const { clock } = this.#options;
    const end = (): void => card.end.abort();
    gone.addEventListener("abort", end, { once: true });
    if (gone.aborted || this.#stop.signal.aborted) end();
    const cancel = clock.after(CARD_SECONDS * 1_000, end);
    const waiting = this.#reportWaiting(card, report);
    try {
      await this.#send(push, card);
      void watchCard(card, this.#options);
      const answer = await this.#answered(card);
      if (answer === undefined) return this.#withdraw(card);
      return { answer, handedOver: (isTaken) => this.#handedOver(card, isTaken) };
    } catch (error) {
      // The relay may still have stored it.
      this.#withdraw(card);
      this.#handedOver(card, false);
      throw error;
    } finally {
      waiting.end();
      cancel();
      gone.removeEventListener("abort", end);
      card.stored.resolve(false);
      if (card.answer === undefined) this.#cards.delete(card.id);
    }
  }

  async #answered(card: Card): Promise<DialogAnswer | undefined> {
    try {
      while (card.answer === undefined) {
        if (card.isAskedAgain) await this.#askAgain(card);
        else await card.news.wait(DIALOG_LIMIT_MS, card.end.signal);
      }
    } catch {
      // The wait is over.
    }
    return card.answer;
  }

  async #askAgain(card: Card): Promise<void> {
    this.#options.log(`card: asked again, since no paired phone gave the answer that closed "${card.id}"`);
    card.isAskedAgain = false;
    this.#cards.delete(card.id);
    const { clock, keys } = this.#options;
    const phones = await keys.phones();
    if (phones.length === 0) return card.end.abort();
    const push = await askedAs(card, { clock, host: keys.deviceId, phones });
    this.#cards.set(card.id, card);
    await this.#send(push, card);
  }

  /** Retries for as long as a lost connection is tolerated: a busy relay is usually free again a moment later. */
  async #send(push: HostPush, { stored, end: { signal } }: Card): Promise<void> {
    const { send, clock } = this.#options;
    await retryRelay(() => send(push, { signal }), { limitMs: LINK_LOST_MS, clock, signal });
    stored.resolve(true);
  }

  #handedOver(card: Card, isTaken: boolean): void {
    card.isTaken = isTaken;
    card.news.wake();
  }

  #withdraw({ id }: Pick<Card, "id">): undefined {
    const now = this.#options.clock.elapsed();
    for (const [old, at] of this.#withdrawn) {
      if (now - at > 2 * CARD_SECONDS * 1_000) this.#withdrawn.delete(old);
    }
    this.#withdrawn.set(id, now);
    this.#options.withdraw(id);
  }

  /** Resolves once the agent's next steps show whether it took the answer. */
  async #applied(card: Card): Promise<Outcome> {
    const { clock } = this.#options;
    const begun = clock.elapsed();
    try {
      for (let elapsed = 0; elapsed < APPLIED_LIMIT_MS; elapsed = clock.elapsed() - begun) {
        if (card.isTaken === false || card.sign === "gone") return refused("dialog_gone");
        const goesOn = card.isTaken === true && await this.#goesOn(card) && elapsed >= APPLIED_MS;
        const isLikely = card.sign === "likely" && clock.elapsed() - card.signAt >= APPLIED_MS;
        if (goesOn || isLikely || card.sign === "applied") return { state: "submitted" };
        await card.news.wait(APPLIED_MS / 10, this.#stop.signal);
      }
    } catch {
      // The listener stops.
    } finally {
      this.#cards.delete(card.id);
    }
    return { state: "unknown", reason: "answer_unconfirmed" };
  }

  /** True if the agent has worked since then, or asks something else. An interrupted one is idle first. */
  async #goesOn(card: Card): Promise<boolean> {
    // An unreadable screen shows nothing; the next one may.
    const view = await lookAt(card, this.#options).catch(() => undefined);
    if (view?.state === "idle") card.wasIdle = true;
    if (card.wasIdle || card.isFollowed) return false;
    const now = this.#options.dialogOnScreen(card.place.session);
    if (now !== undefined) return card.dialog !== undefined && now !== card.dialog;
    return view !== undefined && !view.hasDialog && view.state === "working";
  }

  /** The session counts as waiting while its card is open. */
  #reportWaiting({ id }: Card, { agent, cwd, session, pane, socket }: HookReport): { end(): void } {
    const about = { event: ASK_EVENT, agent, cwd, session, pane, socket, ask: id };
    let cancel = (): void => {};
    const tick = (): void => {
      this.#options.report({ ...about, state: "waiting" });
      cancel = this.#options.clock.after(ASK_REPORT_MS, tick);
    };
    tick();
    return {
      end: () => {
        cancel();
        this.#options.report({ ...about, state: "working" });
      },
    };
  }
}
