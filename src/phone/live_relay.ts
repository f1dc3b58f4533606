/** The connection for one account: turns what the link, the HTTP calls and the outbox report into state events. */
import { type Clock, systemClock } from "../async/clock.ts";
import { retry } from "../async/retry.ts";
import { wsFromHttpBase } from "../client/addresses.ts";
import { createRelayApi, type Fetch, type RelayApi } from "../client/api.ts";
import { RELAY_BACKOFF, RelayError } from "../client/relay_error.ts";
import { type CreateSocket, type LinkState, RelayLink } from "../client/relay_link.ts";
import type { EventData, Frame } from "../protocol/frames.ts";
import { PAGE_LIMIT_MAX } from "../protocol/limits.ts";
import type { PushAccepted, PushPage, PushRecord, PushRequestInput } from "../protocol/push.ts";
import type { DeviceSessions } from "../protocol/session.ts";
import { openDialogs } from "./attention.ts";
import { openQuestions } from "./inbox.ts";
import type { Message, SendFailure } from "./message.ts";
import { type HistoryPage, MissedHistory } from "./missed_history.ts";
import { answerPush, cancelPush, commandPush, Outbox, type OutboxStore, requestPush } from "./outbox.ts";
import { isOutdated, OUTDATED } from "./requests.ts";
import { openedItem } from "./route.ts";
import type { Sealing } from "./sealing.ts";
import { trustedSessions } from "./sessions.ts";
import { draftKeyOf, outboxOf, type PhoneEvent, relayNow, type Store, unsettledOf } from "./state.ts";
import type { Account, PhoneStorage } from "./storage.ts";
import { type MirrorOpener, TerminalStreams } from "./terminal_streams.ts";

/** After a connect, at most this many unsettled messages older than the pages read are read again. */
const UNSETTLED_MAX = 50;

/** The effects default to the browser's own. */
export interface LiveRelayOptions {
  baseUrl: string;
  /** The phone's display name. */
  name: string;
  version: string;
  store: Store;
  storage: PhoneStorage;
  outboxStore: OutboxStore;
  sealing: Sealing;
  /** Called when the relay's clock is known. */
  onConnected?: () => void;
  clock?: Clock;
  random?: () => number;
  fetch?: Fetch;
  createSocket?: CreateSocket;
}

export class LiveRelay {
  readonly #options: LiveRelayOptions;
  readonly #api: RelayApi;
  readonly #link: RelayLink;
  readonly #outbox: Outbox;
  readonly #terminals: TerminalStreams;
  readonly #missed: MissedHistory;
  #account: Account;
  #isStopped = false;
  /** The welcome of the newest connection. */
  #welcome: EventData<"welcome"> | undefined;
  /** Pending writes. */
  #writing: Promise<unknown> = Promise.resolve();
  /** Aborted when the link is lost; unfinished reads are repeated after the next connect. */
  #reading = new AbortController();
  /** The number of the newest request for the sessions, and of the newest that was answered. */
  #asked = 0;
  #answered = 0;
  /** For each pending request for the sessions: the hosts that have reported since it was sent. */
  readonly #heard = new Set<Set<string>>();

  constructor(account: Account, options: LiveRelayOptions) {
    const { baseUrl, clock = systemClock, random = Math.random, fetch, createSocket } = options;
    const { apiKey } = account;
    this.#account = account;
    const { get, dispatch } = options.store;
    // An answer may arrive after the user has signed out, even in to another account.
    const store: Store = { get, dispatch: (event) => this.#isStopped || dispatch(event) };
    this.#options = { ...options, store };
    this.#api = createRelayApi({ baseUrl, apiKey, ...(fetch ? { fetch } : {}) });
    this.#link = new RelayLink({
      wsUrl: wsFromHttpBase(baseUrl),
      apiKey,
      hello: () => this.#hello(),
      onFrame: (frame) => this.#onFrame(frame),
      onBinary: (bytes) => this.#terminals.bytes(bytes),
      onState: (state) => this.#onLink(state),
      clock,
      random,
      ...(fetch ? { fetch } : {}),
      ...(createSocket ? { createSocket } : {}),
    });
    this.#terminals = new TerminalStreams({
      link: this.#link,
      sealing: options.sealing,
      phone: () => this.#account.deviceId ?? "",
      clock,
      random,
    });
    this.#missed = new MissedHistory({
      read: (before, signal) => this.#readPagePatiently(before, signal),
      add: (pushes, page) => this.#add(pushes, page),
    });
    this.#outbox = new Outbox({
      isNew: (id) => !options.outboxStore.isRestored(id),
      isWaiting: (id) => options.outboxStore.isWaiting(id),
      next: (held) => outboxOf(options.store.get()).find((message) => !held.has(draftKeyOf(message))),
      send: (message, { signal }) => this.#post(message, signal),
      onAccepted: (accepted) => this.#onAccepted(accepted),
      onFailed: (id, failure) => this.#onFailed(id, failure),
      onDelayed: (id, failure) => store.dispatch({ type: "delayed", id, failure }),
      onGone: (id) => store.dispatch({ type: "discarded", id }),
      clock,
      random,
    });
  }

  /** Requests the sessions in parallel with the link's handshake, so that the list does not wait for it. */
  start(): void {
    this.#link.start();
    void tolerateRelayErrors(() => this.#readSessions());
  }

  /** Resolves once pending writes have finished. */
  async stop(): Promise<void> {
    this.#reading.abort();
    this.#link.close();
    this.#outbox.stop();
    this.#isStopped = true;
    await this.#writing;
  }

  watch(watched: boolean): void {
    this.#link.watch(watched);
    if (!watched) void this.#keepSessions();
  }

  reconnectNow(): void {
    this.#link.reconnectNow();
  }

  /** Mirrors a session until the stream is closed. */
  readonly mirror: MirrorOpener = (...asked) => this.#terminals.open(...asked);

  /** Sends the unsent messages. */
  pump(): Promise<void> {
    return this.#outbox.pump();
  }

  abortSending(): void {
    this.#outbox.abort();
  }

  /** True if the relay may have this unsent message although it did not answer. */
  mayHaveSent(id: string): boolean {
    return this.#outbox.mayHaveSent(id);
  }

  /** Loads the next older page of the history. */
  readOlder(): Promise<void> {
    const before = this.#options.store.get().oldestRead?.id ?? "end";
    return tolerateRelayErrors(async () => {
      const { pushes, next } = await this.#readPage(before);
      await this.#add(pushes, next === undefined ? "last" : "more");
    });
  }

  /** Loads the item that a notification opened and the texts of open dialogs, if older than the history read so far. */
  async readNeeded(signal = this.#reading.signal): Promise<void> {
    const state = this.#options.store.get();
    if (state.history === "unread") return;
    const needed = [openedItem(state.route) ?? [], openDialogs(state).map(({ id }) => id)].flat();
    for (const id of needed) {
      if (!state.inbox.has(id)) await this.#readPatiently(() => this.#fetchPush(id), signal);
    }
  }

  #hello(): EventData<"hello"> {
    const { name, version } = this.#options;
    const { deviceId } = this.#account;
    return { role: "phone", name, version, capabilities: [], ...(deviceId ? { deviceId } : {}) };
  }

  async #post(message: Message, signal: AbortSignal): Promise<PushAccepted> {
    const { sealing, store, clock = systemClock } = this.#options;
    if (isOutdated(message, relayNow(store.get(), clock.now()))) {
      throw new RelayError("Cannot send what was asked for so long ago: ask again", { code: OUTDATED });
    }
    return await this.#api.sendPush(await pushOf(message, sealing), { signal });
  }

  /** Dispatches an event about pushes, then removes messages that the relay has from the outbox store. */
  async #dispatchAndSweep(event: PhoneEvent): Promise<void> {
    const { store, outboxStore } = this.#options;
    store.dispatch(event);
    await outboxStore.sweep(store.get());
  }

  /** The relay is reachable, so a waiting link reconnects at once. */
  async #onAccepted(accepted: PushAccepted): Promise<void> {
    if (!this.#link.connected) this.#link.reconnectNow();
    await this.#dispatchAndSweep({ type: "accepted", accepted });
  }

  async #onFailed(id: string, failure: SendFailure): Promise<void> {
    const { store, outboxStore } = this.#options;
    store.dispatch({ type: "failed", id, failure });
    const { messages } = store.get();
    const message = messages.get(id);
    // First the message whose cancellation failed: its stored copy still says that it is cancelled.
    for (const failed of [messages.get(message?.cancels ?? ""), message]) {
      if (failed?.progress.kind === "failed") await this.#write(outboxStore.fail(failed));
    }
  }

  #onLink(state: LinkState): void {
    const { store, onConnected } = this.#options;
    const wasLive = store.get().link.kind === "live";
    store.dispatch({ type: "link", link: state });
    if (state.state !== "connected") this.#reading.abort();
    // A page that is opened without the link shows the sessions that were listed last.
    if (state.state === "waiting" && wasLive) void this.#keepSessions();
    if (state.state === "connected" && state.answering && !wasLive) {
      if (!this.#isStopped) onConnected?.();
      void this.#keepDeviceId(state.welcome.deviceId);
      // On the same connection nothing was missed, and running sends and reads continue.
      if (state.welcome === this.#welcome) void this.#outbox.pump();
      else void this.#catchUp();
      this.#welcome = state.welcome;
    }
    if (state.state === "connected") this.#terminals.live();
    else this.#terminals.lost();
    if (state.state === "waiting" && state.problem?.code === "handshake_failed") void this.#catchUp();
  }

  /** A phone that signed in with a key gets its device id from the first welcome, and keeps it from then on. */
  async #keepDeviceId(deviceId: string): Promise<void> {
    if (this.#account.deviceId !== undefined) return;
    this.#account = { ...this.#account, deviceId };
    await this.#write(this.#options.storage.writeAccount(this.#account));
  }

  /** After every reconnect, and where only HTTP gets through: sends unsent messages and loads what changed. */
  async #catchUp(): Promise<void> {
    void this.#outbox.hurry();
    this.#reading.abort();
    this.#reading = new AbortController();
    const { signal } = this.#reading;
    await this.#readPatiently(() => this.#readSessions(), signal);
    const { listed, hasMore } = await this.#missed.read(signal);
    if (hasMore) {
      await this.#readOpenQuestions(signal);
      await this.#readUnsettled(listed, signal);
    }
    await this.readNeeded(signal);
  }

  /** Older messages may have been settled while there was no link. */
  async #readUnsettled(listed: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const unsettled = unsettledOf(this.#options.store.get()).filter(({ id }) => !listed.has(id));
    for (const { id } of unsettled.slice(0, UNSETTLED_MAX)) {
      await this.#readPatiently(() => this.#fetchPush(id), signal);
    }
  }

  /** Reads all open questions, which are shown at any age. A question that is no longer listed was closed meanwhile. */
  async #readOpenQuestions(signal: AbortSignal): Promise<void> {
    const { store, clock = systemClock } = this.#options;
    const listed = new Set<string>();
    await this.#readPatiently(async () => {
      for (let before: string | undefined = "end"; before !== undefined && !signal.aborted;) {
        const page: PushPage = await this.#api.listPushes({
          before,
          limit: PAGE_LIMIT_MAX,
          open: "questions",
        });
        await this.#add(page.pushes);
        for (const { push } of page.pushes) listed.add(push.id);
        before = page.next;
      }
    }, signal);
    for (const { push: { id } } of openQuestions(store.get().inbox, relayNow(store.get(), clock.now()))) {
      if (!listed.has(id)) await this.#readPatiently(() => this.#fetchPush(id), signal);
    }
  }

  /** Retries on transient errors: while the link lasts, nothing else would read again what a failed request missed. */
  async #readPatiently(read: () => Promise<void>, signal = this.#reading.signal): Promise<void> {
    if (signal.aborted) return;
    const { clock = systemClock, random = Math.random } = this.#options;
    const isTransient = (error: unknown): boolean => error instanceof RelayError && error.transient;
    await tolerateRelayErrors(async () => {
      await retry(read, { isTransient, backoff: { ...RELAY_BACKOFF, random }, clock, signal }).catch(
        (error) => {
          if (!signal.aborted) throw error;
        },
      );
    });
  }

  async #readSessions(): Promise<void> {
    const number = ++this.#asked;
    const heard = new Set<string>();
    this.#heard.add(heard);
    const { devices } = await this.#api.sessions().finally(() => this.#heard.delete(heard));
    if (number < this.#answered) return;
    this.#answered = number;
    this.#options.store.dispatch({
      type: "sessions",
      devices: devices.map((one) => this.#trusted(one)),
      heard,
    });
    for (const device of devices) void this.#readDetails(device);
    await this.#keepSessions();
  }

  /** Stores the sessions for the next start, which may have no network. */
  async #keepSessions(): Promise<void> {
    const { store, storage } = this.#options;
    const { devices, signIn } = store.get();
    if (devices !== undefined && signIn.kind === "in") await this.#write(storage.writeSessions(devices));
  }

  /** A full or broken storage only affects the next start, not what is shown now. */
  async #write(writing: Promise<void>): Promise<void> {
    this.#writing = Promise.allSettled([this.#writing, writing]);
    await writing.catch(() => undefined);
  }

  #readPage(before: string): Promise<PushPage> {
    return this.#api.listPushes({ before, limit: PAGE_LIMIT_MAX });
  }

  async #readPagePatiently(before: string, signal: AbortSignal): Promise<PushPage | undefined> {
    let page: PushPage | undefined;
    await this.#readPatiently(async () => void (page = await this.#readPage(before)), signal);
    return page;
  }

  /** `page`: set if the pushes are a page of the history. */
  async #add(pushes: readonly PushRecord[], page?: HistoryPage): Promise<void> {
    const records = await this.#options.sealing.openRecords(pushes);
    await this.#dispatchAndSweep({ type: "history", records, ...(page ? { page } : {}) });
  }

  async #readDetails(device: DeviceSessions): Promise<void> {
    const details = await this.#options.sealing.openDetails(device);
    const { deviceId } = device;
    if (details !== undefined) this.#options.store.dispatch({ type: "details", deviceId, details });
  }

  #onFrame(frame: Frame): void {
    const { store } = this.#options;
    if (frame.event === "sessions.changed") {
      for (const heard of this.#heard) heard.add(frame.data.deviceId);
      store.dispatch({ type: "device", device: this.#trusted(frame.data) });
      void this.#readDetails(frame.data);
    }
    this.#terminals.frame(frame);
    if (frame.event === "push.new") void this.#onNew(frame.data.id);
    if (frame.event !== "push.updated") return;
    const { messages, inbox } = store.get();
    const isKnown = messages.has(frame.data.id) || inbox.has(frame.data.id);
    if (isKnown) void this.#onReceipt(frame.data);
    else void this.#readPatiently(() => this.#fetchPush(frame.data.id));
  }

  async #onNew(id: string): Promise<void> {
    await this.#readPatiently(async () => {
      await this.#fetchPush(id);
      this.#missed.heard(id);
    });
  }

  async #onReceipt({ id, receipt }: EventData<"push.updated">): Promise<void> {
    const checked = await this.#options.sealing.checkReceipt(id, receipt);
    await this.#dispatchAndSweep({ type: "receipt", update: { id, receipt: checked } });
  }

  #trusted(device: DeviceSessions): DeviceSessions {
    return trustedSessions(device, this.#options.sealing.pairedHost(device.deviceId));
  }

  /** Loads a question, a notification, or a message from another device. */
  async #fetchPush(id: string): Promise<void> {
    await this.#add([await this.#api.getPush(id)]);
  }
}

function pushOf(message: Message, sealing: Sealing): Promise<PushRequestInput> {
  if (message.cancels !== undefined) return cancelPush(message, sealing);
  if (message.dialog !== undefined) return requestPush(message, { type: "dialog.answer", sealing });
  if (message.request !== undefined) return requestPush(message, { type: message.request, sealing });
  return message.answers === undefined ? commandPush(message, sealing) : answerPush(message, sealing);
}

/** A failed request leaves the page as it is; the link's state shows why. */
async function tolerateRelayErrors(request: () => Promise<void>): Promise<void> {
  try {
    await request();
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
  }
}
