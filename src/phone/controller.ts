/** What a person does, turned into events of the state: sign in and out, write, send again, take back. */
import { randomUuid } from "../async/uuid.ts";
import { createRelayApi } from "../client/api.ts";
import { systemClock } from "../async/clock.ts";
import { RelayError } from "../client/relay_error.ts";
import { type Answer, answerFields, answerText, secretFields } from "../protocol/ask.ts";
import { type Account, accountName, type OutboxEntry } from "./account.ts";
import { KeptMessages } from "./kept_messages.ts";
import { LiveRelay, type PhoneParts } from "./live_relay.ts";
import type { Message } from "./message.ts";
import { type Claimed, claimPairing, UnprovenHost } from "../client/claim_pairing.ts";
import type { PairingStorage } from "./pairing_storage.ts";
import type { Handover } from "./route.ts";
import { answerDraftKey, draftKey, type SessionName } from "./names.ts";
import { Sealing } from "./sealing.ts";
import type { PairingNews, SignInProblem } from "./state.ts";
import type { TerminalStream } from "./terminal_stream.ts";
import type { TerminalViewer } from "./terminal_streams.ts";

export interface ControllerParts extends Omit<PhoneParts, "kept" | "sealing"> {
  /** Undefined on a page without cryptography. */
  pairing?: PairingStorage | undefined;
}

/** An account in another's place, and the host that a link paired it with. */
type Swap = { account: Account; paired?: Claimed["paired"] };

export class Controller {
  readonly #parts: PhoneParts & Pick<ControllerParts, "pairing">;
  #live: LiveRelay | undefined;
  #watched = false;
  /** The account that the person is asked about. */
  #swap: Swap | undefined;

  constructor(parts: ControllerParts) {
    const { storage, pairing, clock = systemClock } = parts;
    const sealing = new Sealing({ storage: pairing, now: () => clock.now() });
    this.#parts = { ...parts, kept: new KeptMessages(storage), sealing };
  }

  /** Takes what the address handed over, else what the phone kept. */
  async start(handover?: Handover): Promise<void> {
    await this.#parts.sealing.load();
    if (handover?.kind === "pair") return await this.claim(handover);
    const account = await this.#parts.storage.readAccount();
    if (handover?.kind === "key") return await this.#signInByLink(handover.key, account);
    if (account !== undefined) await this.#enter(account);
    else this.#parts.store.dispatch({ type: "signIn", signIn: { kind: "out" } });
  }

  /** The person wants the account of the link; nothing of the old one stays, unless the relay does not take the new one. */
  async swapAccount(): Promise<void> {
    const { store, storage, sealing } = this.#parts;
    const swap = this.#swap;
    this.#swap = undefined;
    if (swap === undefined) return;
    store.dispatch({ type: "signIn", signIn: { kind: "busy", how: "key" } });
    const entered = await this.#enterOrSayWhy(async () => {
      await createRelayApi({ ...this.#parts, apiKey: swap.account.apiKey }).sessions();
      this.stop();
      await storage.clear();
      await sealing.forgetHosts();
      await this.#keepHost(swap);
      return swap.account;
    });
    if (entered !== "anew") store.dispatch({ type: "pairing", news: { kind: "failed", ...entered } });
  }

  keepAccount(): void {
    this.#swap = undefined;
    this.#parts.store.dispatch({ type: "swap", swap: undefined });
  }

  async #signInByLink(key: string, account: Account | undefined): Promise<void> {
    if (account === undefined) return await this.signIn(key);
    if (this.#live === undefined) await this.#enter(account);
    const apiKey = key.trim();
    if (apiKey !== account.apiKey) this.#ask(account, { account: { apiKey } });
  }

  #ask(current: Account, swap: Swap): void {
    this.#swap = swap;
    const names = { from: accountName(current), to: accountName(swap.account) };
    this.#parts.store.dispatch({ type: "swap", swap: names });
  }

  async signIn(key: string): Promise<void> {
    const apiKey = key.trim();
    this.#parts.store.dispatch({ type: "signIn", signIn: { kind: "busy", how: "key" } });
    await this.#enterOrSayWhy(async () => {
      await createRelayApi({ ...this.#parts, apiKey }).sessions();
      return { apiKey };
    });
  }

  /** A phone that is signed in stays the device that it is, and pairs with one more host. */
  async claim({ code, secret }: { code: string; secret?: string | undefined }): Promise<void> {
    const { store, storage, pairing, name } = this.#parts;
    store.dispatch({ type: "signIn", signIn: { kind: "busy", how: "pair" } });
    let asked: { current: Account; claimed: Swap } | undefined;
    const entered = await this.#enterOrSayWhy(async () => {
      const current = await storage.readAccount();
      const api = createRelayApi({ ...this.#parts, apiKey: current?.apiKey });
      const keyPair = await pairing?.ownKeys();
      const claimed = await claimPairing(api, { code, secret, name, keyPair });
      if (current !== undefined && claimed.account.apiKey !== current.apiKey) {
        asked = { current, claimed };
        return current;
      }
      await this.#keepHost(claimed);
      return claimed.account;
    });
    if (asked !== undefined) {
      const { current, claimed } = asked;
      return this.#ask(current, claimed);
    }
    const isIn = store.get().signIn.kind === "in";
    if (entered === "anew" || secret === undefined || !isIn) return;
    store.dispatch({ type: "pairing", news: { kind: "failed", ...entered } });
  }

  async #keepHost({ paired }: Swap): Promise<void> {
    if (paired !== undefined) await this.#parts.sealing.keep({ ...paired.host, unanswered: paired.words });
  }

  /** The person has seen what came of the pairing; words that were shown are the host's. */
  async pairingRead(): Promise<void> {
    const { store, sealing } = this.#parts;
    const { pairing } = store.get();
    if (pairing?.kind === "words") await sealing.confirm(pairing.deviceId);
    this.#tellPaired();
  }

  /** Somebody stands between phone and host: nothing of the pairing stays. */
  async wordsDiffer(): Promise<void> {
    await this.signOut({ code: "words_differ", message: "The words differ" });
  }

  /** The phone forgets the key, what it shares with hosts, and what it has not sent. */
  async signOut(problem?: SignInProblem): Promise<void> {
    const { storage, sealing, store } = this.#parts;
    this.stop();
    await storage.clear();
    await sealing.clear();
    store.dispatch({ type: "signIn", signIn: { kind: "out", ...(problem ? { problem } : {}) } });
  }

  stop(): void {
    this.#live?.stop();
    this.#live = undefined;
  }

  /** Shown at once, kept over a reload, sent as soon as there is a link. */
  async send(to: SessionName, body: string, options: { sendAnyway?: boolean } = {}): Promise<void> {
    const { deviceId, session } = to;
    await this.#compose({ deviceId, session, body, ...(options.sendAnyway ? { sendAnyway: true } : {}) });
  }

  /** The same for an answer to a question. */
  async answer(question: string, answer: Answer): Promise<void> {
    const { data } = answerFields(answer);
    const item = this.#parts.store.get().inbox.get(question);
    const host = item?.push.sealedFor?.host;
    const sealTo = host === undefined
      ? {}
      : { sealTo: { deviceId: host, session: item?.push.agentSessionName ?? "" } };
    const answers = { question, ...(data ? { data } : {}), ...sealTo };
    const body = answerText(answer, secretFields(item?.kind === "question" ? item.ask : undefined));
    await this.#compose({ deviceId: "", session: "", body, answers });
  }

  /** The same text as a new message, after a busy desk whatever goes on there; what the relay never took keeps its id. */
  async resend(message: Message): Promise<void> {
    const { progress, body } = message;
    if (progress.kind === "taken") {
      return await this.send(message, body, { sendAnyway: progress.receipt.reason === "desk_busy" });
    }
    this.#parts.store.dispatch({ type: "retried", id: message.id });
    await this.#live?.pump();
  }

  async discard(id: string): Promise<void> {
    await this.#parts.kept.remove(id);
    this.#parts.store.dispatch({ type: "discarded", id });
  }

  draft(to: SessionName, text: string): void {
    this.#parts.store.dispatch({ type: "drafted", key: draftKey(to), text });
  }

  draftAnswer(question: string, text: string): void {
    this.#parts.store.dispatch({ type: "drafted", key: answerDraftKey(question), text });
  }

  /** Mirrors a session until the stream is closed; undefined for a phone that is signed out. */
  mirror(name: SessionName, viewer: TerminalViewer): TerminalStream | undefined {
    return this.#live?.mirror(name, viewer);
  }

  readOlder(): void {
    void this.#live?.readOlder();
  }

  /** While the page is looked at, a dead link shows within 2 s. */
  watch(watched: boolean): void {
    this.#watched = watched;
    this.#live?.watch(watched);
    if (watched) this.#live?.reconnectNow();
  }

  reconnectNow(): void {
    this.#live?.reconnectNow();
  }

  async #compose(written: Omit<OutboxEntry, "id" | "createdAt">): Promise<void> {
    const { store, kept, clock = systemClock } = this.#parts;
    const entry = { id: randomUuid(), ...written, createdAt: clock.now() + store.get().clockOffsetMs };
    const put = kept.put(entry);
    store.dispatch({ type: "composed", message: { ...entry, fromHere: true, progress: { kind: "outbox" } } });
    await put;
    await this.#live?.pump();
  }

  /** `anew`, or why not: then a phone that was signed in is so still. */
  async #enterOrSayWhy(find: () => Promise<Account>): Promise<"anew" | SignInProblem> {
    try {
      const { apiKey, deviceId } = await find();
      const account = deviceId === undefined ? { apiKey } : { apiKey, deviceId };
      await this.#parts.storage.writeAccount(account);
      await this.#enter(account);
      return "anew";
    } catch (error) {
      const problem = problemOf(error);
      const kept = await this.#parts.storage.readAccount();
      if (kept !== undefined) await this.#enter(kept);
      else this.#parts.store.dispatch({ type: "signIn", signIn: { kind: "out", problem } });
      return problem;
    }
  }

  /** Words that nobody has answered are asked about, also after a reload. */
  #tellPaired(): void {
    const { store, sealing } = this.#parts;
    store.dispatch({ type: "paired", paired: sealing.pairedWith() });
    const host = sealing.unanswered();
    const news: PairingNews | undefined = host?.unanswered &&
      { kind: "words", deviceId: host.deviceId, host: host.host, words: host.unanswered };
    store.dispatch({ type: "pairing", news });
  }

  async #enter(account: Account): Promise<void> {
    const { store, kept } = this.#parts;
    this.stop();
    store.dispatch({ type: "signIn", signIn: { kind: "in" } });
    this.#tellPaired();
    store.dispatch({ type: "restored", messages: await kept.restore() });
    this.#live = new LiveRelay(account, this.#parts);
    this.#live.watch(this.#watched);
    this.#live.start();
  }
}

/** In words for the sign-in page. Throws what is no such problem. */
function problemOf(error: unknown): SignInProblem {
  if (error instanceof RelayError) return { code: error.code, message: error.message };
  if (error instanceof UnprovenHost) return { code: "unproven_host", message: error.message };
  throw error;
}
