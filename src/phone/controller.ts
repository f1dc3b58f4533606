/** Carries out the user's actions: sign in and out, pair, send, resend, discard, answer. */
import { systemClock } from "../async/clock.ts";
import { errorText } from "../async/error_text.ts";
import { randomUuid } from "../async/encodings.ts";
import { createRelayApi, type RelayApi } from "../client/api.ts";
import type { Claimed } from "../client/claim_pairing.ts";
import { DamagedLink, RelayError, UnprovenHost } from "../client/relay_error.ts";
import { type Answer, answerFields } from "../protocol/ask.ts";
import { ReadMarks } from "./attention.ts";
import { answerBody } from "./inbox.ts";
import { LiveRelay, type LiveRelayOptions } from "./live_relay.ts";
import { mayInsist, type Message } from "./message.ts";
import { OutboxStore } from "./outbox.ts";
import { laterTtlSeconds, OwnMessages, type SendOptions } from "./own_messages.ts";
import type { PairingStorage } from "./pairing_storage.ts";
import type { RequestContent } from "./requests.ts";
import type { Route, SignInLink } from "./route.ts";
import { Sealing } from "./sealing.ts";
import { sessionKey, type SessionName, trustedSessions } from "./sessions.ts";
import { answerDraftKey, type PairingResult, relayNow, type SignInProblem } from "./state.ts";
import { type Account, accountName, KeptDrafts } from "./storage.ts";
import { STRINGS } from "./strings.ts";
import type { MirrorOpener } from "./terminal_streams.ts";

interface ControllerOptions extends Omit<LiveRelayOptions, "outboxStore" | "sealing"> {
  /** Undefined on a page without WebCrypto. */
  pairing?: PairingStorage | undefined;
  /** Called when the account or its hosts have changed: this browser's other pages then reload. */
  changed?(): void;
}

/** An account to switch to, and the host that the link paired it with. */
type Swap = { account: Account; paired?: Claimed["paired"] };

export class Controller {
  readonly #options: LiveRelayOptions & Pick<ControllerOptions, "pairing" | "changed">;
  #live: LiveRelay | undefined;
  #watched = false;
  readonly #drafts: KeptDrafts;
  readonly #marks: ReadMarks;
  readonly #own: OwnMessages;
  /** The account that the user is being asked to switch to. */
  #swap: Swap | undefined;
  /** Resolves when the last sign-out is over, which would otherwise erase what a link has just stored. */
  #left: Promise<void> | undefined;

  constructor(options: ControllerOptions) {
    const { storage, pairing, clock = systemClock } = options;
    this.#drafts = new KeptDrafts(storage);
    this.#marks = new ReadMarks({ ...options, clock });
    const sealing = new Sealing({ storage: pairing, now: () => clock.now() });
    const outboxStore = new OutboxStore(storage);
    this.#options = { ...options, outboxStore, sealing };
    this.#own = new OwnMessages({ ...this.#options, clock, live: () => this.#live });
  }

  /** Signs in with the link, else with one whose use was interrupted, else with the stored account. */
  async start(opened?: SignInLink): Promise<void> {
    const { sealing, storage } = this.#options;
    await this.#left?.catch(() => {});
    if (opened !== undefined) await storage.keepLink(opened);
    const [account, kept] = await Promise.all([storage.readAccount(), storage.readLink(), sealing.load()]);
    // Signing out in the meantime erases the stored link.
    const link = opened ?? kept;
    if (link?.kind === "pair") return await this.claim(link);
    if (link?.kind === "key") return await this.#signInByLink(link.key.trim(), account);
    if (account !== undefined) await this.#enter(account);
    else this.#options.store.dispatch({ type: "signIn", signIn: { kind: "out" } });
  }

  /** The user accepted the link's account: leaves and erases the old one once the relay has accepted the new one. */
  async swapAccount(leave: () => Promise<void>): Promise<void> {
    const { store, storage, sealing } = this.#options;
    const swap = this.#swap;
    this.#swap = undefined;
    if (swap === undefined) return;
    store.dispatch({ type: "signIn", signIn: { kind: "busy", how: "key" } });
    const problem = await this.#trySignIn(async () => {
      await createRelayApi({ ...this.#options, apiKey: swap.account.apiKey }).sessions();
      await leave().catch(() => undefined);
      await this.stop();
      await storage.clear();
      await sealing.forgetHosts();
      await this.#keepHost(swap);
      return swap.account;
    });
    if (problem !== undefined) store.dispatch({ type: "pairing", result: { kind: "failed", ...problem } });
  }

  keepAccount(): void {
    this.#swap = undefined;
    void this.#options.storage.forgetLink();
    this.#options.store.dispatch({ type: "swap", swap: undefined });
  }

  async #signInByLink(apiKey: string, account: Account | undefined): Promise<void> {
    if (account === undefined) return await this.signIn(apiKey);
    if (this.#live === undefined) await this.#enter(account);
    if (apiKey !== account.apiKey) return this.#askToSwap(account, { account: { apiKey } });
    await this.#options.storage.forgetLink();
  }

  #askToSwap(current: Account, swap: Swap): void {
    this.#swap = swap;
    const [from = "", to = ""] = [current, swap.account].map((one) => accountName(one, STRINGS.swap));
    this.#options.store.dispatch({ type: "swap", swap: { from, to } });
  }

  async signIn(key: string): Promise<void> {
    const apiKey = key.trim();
    this.#options.store.dispatch({ type: "signIn", signIn: { kind: "busy", how: "key" } });
    await this.#trySignIn(async () => {
      await createRelayApi({ ...this.#options, apiKey }).sessions();
      return { apiKey };
    });
  }

  /** Pairs with a host. A phone that is already signed in keeps its device id and adds the host. */
  async claim({ code, secret }: { code: string; secret?: string | undefined }): Promise<void> {
    const { store, storage, pairing, name, clock = systemClock } = this.#options;
    const busy = (isAgain: boolean): void =>
      store.dispatch({ type: "signIn", signIn: { kind: "busy", how: "pair", isAgain } });
    busy(false);
    let asked: { current: Account; claimed: Swap } | undefined;
    const problem = await this.#trySignIn(async () => {
      const current = await storage.readAccount();
      const api = createRelayApi({ ...this.#options, apiKey: current?.apiKey });
      const keyPair = await pairing?.ownKeys();
      // Loaded when it is needed: it contains the list of check words.
      const { claimPatiently } = await import("../client/claim_pairing.ts");
      const claimed = await claimPatiently(api, { code, secret, name, keyPair }, {
        clock,
        again: () => busy(true),
      });
      if (current !== undefined && claimed.account.apiKey !== current.apiKey) {
        asked = { current, claimed };
        return current;
      }
      await this.#keepHost(claimed);
      return claimed.account;
    });
    if (asked !== undefined) {
      const { current, claimed } = asked;
      return this.#askToSwap(current, claimed);
    }
    const isIn = store.get().signIn.kind === "in";
    const isNews = secret !== undefined || problem?.code === "damaged_link";
    if (problem && isNews && isIn) {
      store.dispatch({ type: "pairing", result: { kind: "failed", ...problem } });
    }
  }

  async #keepHost({ paired }: Swap): Promise<void> {
    if (paired !== undefined) {
      await this.#options.sealing.keepHost({ ...paired.host, unanswered: paired.words });
    }
  }

  /** The user dismissed the result of the pairing; any check words shown match the host's. */
  async confirmPairing(): Promise<void> {
    const { store, storage, sealing } = this.#options;
    const { pairing } = store.get();
    if (pairing?.kind === "words") {
      await sealing.confirmHost(pairing.deviceId);
      this.#options.changed?.();
    } else await storage.forgetLink();
    this.#showPairing();
  }

  /** The check words differ, so the pairing was intercepted: erases everything. */
  async wordsDiffer(): Promise<void> {
    const { deviceId = "ID" } = await this.#options.storage.readAccount() ?? {};
    await this.signOut({ code: "words_differ", message: "The check words differ", deviceId });
  }

  /** The paired hosts, by their names on this phone. */
  pairedHosts(): { deviceId: string; host: string }[] {
    return this.#options.sealing.pairedHosts();
  }

  /** The name is only stored on this phone. */
  async renameHost(deviceId: string, name: string): Promise<void> {
    const { sealing } = this.#options;
    const host = sealing.pairedHost(deviceId);
    if (host === undefined) return;
    await sealing.keepHost({ ...host, host: name });
    this.#showHosts();
  }

  /** Erases the secret that this phone shares with the host. */
  async forgetHost(deviceId: string): Promise<void> {
    await this.#options.sealing.forgetHost(deviceId);
    this.#showHosts();
  }

  #showHosts(): void {
    const { store, sealing, changed } = this.#options;
    changed?.();
    store.dispatch({ type: "paired", paired: sealing.confirmedHosts() });
    const devices = store.get().devices?.map((one) => trustedSessions(one, sealing.pairedHost(one.deviceId)));
    if (devices !== undefined) store.dispatch({ type: "sessions", devices });
  }

  async account(): Promise<{ name: string; deviceId?: string | undefined } | undefined> {
    const account = await this.#options.storage.readAccount();
    return account && { name: accountName(account, STRINGS.swap), deviceId: account.deviceId };
  }

  /** The relay's API with this account's key. */
  async api(): Promise<RelayApi> {
    const account = await this.#options.storage.readAccount();
    return createRelayApi({ ...this.#options, apiKey: account?.apiKey });
  }

  /** For reading the history: the API, and the keys that open its sealed texts. */
  async history(): Promise<{ api: RelayApi; sealing: Sealing }> {
    return { api: await this.api(), sealing: this.#options.sealing };
  }

  /** Signs out once `leave` has ended, even if it fails. */
  leave(leave: () => Promise<void>): Promise<void> {
    return this.#left = leave().catch(() => {}).then(() => this.signOut());
  }

  /** Erases the account, the paired hosts and the unsent messages. */
  async signOut(problem?: SignInProblem): Promise<void> {
    const { storage, sealing, store, changed } = this.#options;
    await this.stop();
    await storage.clear();
    await sealing.clear();
    changed?.();
    store.dispatch({ type: "signIn", signIn: { kind: "out", ...(problem ? { problem } : {}) } });
  }

  /** Disconnects. Resolves once pending writes have finished. */
  async stop(): Promise<void> {
    const live = this.#live;
    this.#live = undefined;
    await live?.stop();
  }

  /** Shows a message at once, keeps it across reloads, and sends it as soon as the relay is reachable. */
  async send(to: SessionName, body: string, options: SendOptions = {}): Promise<void> {
    const { deviceId, session } = to;
    const { sendAnyway, later, keepsDraft, again } = options;
    const { store, clock = systemClock } = this.#options;
    const now = relayNow(store.get(), clock.now());
    await this.#own.compose({
      deviceId,
      session,
      body,
      again,
      ...(sendAnyway ? { sendAnyway } : {}),
      ...(later ? { later, ttlSeconds: laterTtlSeconds(later, { now, resetsAt: options.resetsAt }) } : {}),
    }, { keepsDraft });
  }

  /** Like `send`, for an answer to a question. */
  async answer(question: string, answer: Answer): Promise<void> {
    const { data } = answerFields(answer);
    const item = this.#options.store.get().inbox.get(question);
    const host = item?.push.sealedFor?.host;
    const sealTo = host === undefined
      ? {}
      : { sealTo: { deviceId: host, session: item?.push.agentSessionName ?? "" } };
    const answers = { question, ...(data ? { data } : {}), ...sealTo };
    const body = answerBody(item?.kind === "question" ? item.ask : undefined, answer);
    await this.#own.compose({ deviceId: "", session: "", body, answers });
  }

  /**
   * Sends the text as a new message, or again if it was never accepted. If the local user or a draft blocked it, it is
   * now typed anyway. A scheduled message stays scheduled, unless its time has passed.
   */
  async resend(message: Message): Promise<void> {
    const { progress, body, later } = message;
    if (progress.kind !== "taken") return await this.#own.retry(message);
    const { store, clock = systemClock } = this.#options;
    const isPast = later?.kind === "at" && later.at <= relayNow(store.get(), clock.now());
    await this.send(message, body, {
      sendAnyway: mayInsist(progress.receipt),
      ...(later === undefined || isPast ? {} : { later }),
      keepsDraft: true,
      again: message.id,
    });
  }

  /** Moves the text to the draft once it is certain that the message will not be typed. */
  edit(message: Message): Promise<void> {
    return this.#own.edit(message);
  }

  /** Cancels a message, unless its typing has begun. One that never left this phone is removed at once. */
  cancel(message: Message): Promise<void> {
    return this.#own.cancel(message);
  }

  /** Sends a request to a host. Returns its message id, by which `progressOf` finds the outcome. */
  ask(request: RequestContent): string {
    const id = randomUuid();
    void this.#own.compose({ id, ...request });
    return id;
  }

  discard(id: string): Promise<void> {
    return this.#own.discard(id);
  }

  draft(to: SessionName, text: string): void {
    this.#options.store.dispatch({ type: "drafted", key: sessionKey(to), text });
  }

  /** Shows a view. */
  open(route: Route): void {
    this.#options.store.dispatch({ type: "route", route });
    void this.#live?.readNeeded();
  }

  /** Call this while the user sees the items of `key`: marks all that has arrived as read. */
  read(key: string): void {
    this.#marks.read(key);
  }

  draftAnswer(question: string, text: string): void {
    this.#options.store.dispatch({ type: "drafted", key: answerDraftKey(question), text });
  }

  /** Mirrors a session until the stream is closed; undefined if signed out. */
  readonly mirror: MirrorOpener = (...asked) => this.#live?.mirror(...asked);

  readOlder(): void {
    void this.#live?.readOlder();
  }

  /** While the page is visible, a dead link is noticed within 2 s. */
  watch(watched: boolean): void {
    this.#watched = watched;
    this.#live?.watch(watched);
    if (watched) this.#live?.reconnectNow();
    if (watched) void this.#drafts.renew(this.#options.store);
  }

  reconnectNow(): void {
    this.#live?.reconnectNow();
  }

  /** Sends these messages of another page that was closed. Without the storage they wait for the next start. */
  async takeOver(ids: readonly string[]): Promise<void> {
    const { store, outboxStore } = this.#options;
    const live = this.#live;
    const known = store.get().messages;
    const wanted = (id: string): boolean => ids.includes(id) && !known.has(id);
    const messages = await outboxStore.restore(wanted).catch(() => []);
    if (live === undefined || this.#live !== live) return;
    const { drafts, seen } = store.get();
    store.dispatch({ type: "restored", messages, drafts, seen });
    await this.#own.cancelRest(messages);
    await live.pump();
  }

  readonly keepDrafts = (): void => this.#drafts.keep(this.#options.store.get());

  /** Returns the problem on failure. A phone that was already signed in stays signed in. */
  async #trySignIn(find: () => Promise<Account>): Promise<SignInProblem | undefined> {
    const { storage } = this.#options;
    try {
      const { apiKey, deviceId } = await find();
      const account = deviceId === undefined ? { apiKey } : { apiKey, deviceId };
      await storage.writeAccount(account);
      await storage.forgetLink();
      this.#options.changed?.();
      await this.#enter(account);
      return undefined;
    } catch (error) {
      const isRefused = error instanceof RelayError
        ? !error.transient
        : error instanceof UnprovenHost || error instanceof DamagedLink;
      if (isRefused) await storage.forgetLink();
      const problem = { ...signInProblem(error), hasLink: await storage.readLink() !== undefined };
      const stored = await storage.readAccount();
      if (stored !== undefined) await this.#enter(stored);
      else this.#options.store.dispatch({ type: "signIn", signIn: { kind: "out", problem } });
      return problem;
    }
  }

  /** Shows the check words until the user has answered, even after a reload. */
  #showPairing(): void {
    const { store, sealing } = this.#options;
    store.dispatch({ type: "paired", paired: sealing.confirmedHosts() });
    const host = sealing.unconfirmedHost();
    const result: PairingResult | undefined = host?.unanswered &&
      { kind: "words", deviceId: host.deviceId, host: host.host, words: host.unanswered };
    store.dispatch({ type: "pairing", result });
  }

  async #enter(account: Account): Promise<void> {
    const { store, storage, outboxStore } = this.#options;
    void this.stop();
    // Before the first view: an open session asks for its mirror as soon as it is drawn.
    const live = new LiveRelay(account, { ...this.#options, onConnected: () => this.#marks.begin() });
    this.#live = live;
    // The user has signed out meanwhile, or signed in to another account.
    const isOver = (): boolean => this.#live !== live;
    const kept = await storage.readSessions();
    if (isOver()) return;
    store.dispatch({ type: "signIn", signIn: { kind: "in" } });
    this.#showPairing();
    if (kept !== undefined) store.dispatch({ type: "sessions", devices: kept });
    const [messages, drafts, seen] = await Promise.all([
      outboxStore.restore(),
      storage.readDrafts(),
      storage.readSeen(),
    ]);
    if (isOver()) return;
    this.#drafts.restored(drafts);
    store.dispatch({ type: "restored", messages, drafts, seen });
    void this.#own.cancelRest(messages);
    live.watch(this.#watched);
    live.start();
  }
}

/** Why signing in failed. `page_failed`: any other error, such as a script that did not load; a retry may work. */
function signInProblem(error: unknown): SignInProblem {
  if (error instanceof RelayError) return { code: error.code, message: error.message };
  if (error instanceof DamagedLink) return { code: "damaged_link", message: error.message };
  if (error instanceof UnprovenHost) return { code: "unproven_host", message: error.message };
  return { code: "page_failed", message: errorText(error) };
}
