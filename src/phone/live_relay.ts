/** One account's live side: link, calls and outbox, each turned into events of the state. */
import { wsFromHttpBase } from "../client/addresses.ts";
import { createRelayApi, type Fetch, type RelayApi } from "../client/api.ts";
import { type Clock, systemClock } from "../async/clock.ts";
import { type LinkState, RelayLink } from "../client/relay_link.ts";
import { RelayError } from "../client/relay_error.ts";
import type { CreateSocket } from "../client/socket.ts";
import type { EventData, Frame } from "../protocol/frames.ts";
import { PAGE_LIMIT_MAX } from "../protocol/limits.ts";
import type { DeviceSessions } from "../protocol/session.ts";
import type { PushAccepted } from "../protocol/push.ts";
import type { Account } from "./account.ts";
import type { KeptMessages } from "./kept_messages.ts";
import type { Message } from "./message.ts";
import { Outbox } from "./outbox.ts";
import { answerPush, commandPush } from "./outgoing_push.ts";
import { outboxOf } from "./selectors.ts";
import type { Sealing } from "./sealing.ts";
import type { PhoneEvent } from "./state.ts";
import type { PhoneStorage } from "./storage.ts";
import type { Store } from "./store.ts";
import type { SessionName } from "./names.ts";
import type { TerminalStream } from "./terminal_stream.ts";
import { trustedSessions } from "./trusted_sessions.ts";
import { TerminalStreams, type TerminalViewer } from "./terminal_streams.ts";

/** What the page is made of; the effects are the browser's own when left out. */
export interface PhoneParts {
  baseUrl: string;
  /** How this phone calls itself to the relay. */
  name: string;
  version: string;
  store: Store;
  storage: PhoneStorage;
  kept: KeptMessages;
  sealing: Sealing;
  clock?: Clock;
  random?: () => number;
  fetch?: Fetch;
  createSocket?: CreateSocket;
}

export class LiveRelay {
  readonly #parts: PhoneParts;
  readonly #api: RelayApi;
  readonly #link: RelayLink;
  readonly #outbox: Outbox;
  readonly #terminals: TerminalStreams;
  #account: Account;

  constructor(account: Account, parts: PhoneParts) {
    const { baseUrl, clock = systemClock, random = Math.random, fetch, createSocket } = parts;
    const { apiKey } = account;
    this.#account = account;
    this.#parts = parts;
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
    this.#terminals = this.#makeTerminals({ clock, random });
    this.#outbox = new Outbox({
      next: () => outboxOf(parts.store.get())[0],
      send: (message, { signal }) => this.#post(message, signal),
      onAccepted: (accepted) => this.#tell({ type: "accepted", accepted }),
      onFailed: (id, failure) => parts.store.dispatch({ type: "failed", id, failure }),
      clock,
      random,
    });
  }

  start(): void {
    this.#link.start();
  }

  stop(): void {
    this.#link.close();
    this.#outbox.stop();
  }

  watch(watched: boolean): void {
    this.#link.watch(watched);
  }

  reconnectNow(): void {
    this.#link.reconnectNow();
  }

  /** Mirrors a session until the stream is closed. */
  mirror(name: SessionName, viewer: TerminalViewer): TerminalStream {
    return this.#terminals.open(name, viewer);
  }

  /** Sends what waits. */
  pump(): Promise<void> {
    return this.#outbox.pump();
  }

  /** The page of the history before those that were read. */
  readOlder(): Promise<void> {
    return orStale(() => this.#readHistory(this.#parts.store.get().oldestRead?.id ?? "end"));
  }

  #hello(): EventData<"hello"> {
    const { name, version } = this.#parts;
    const { deviceId } = this.#account;
    return { role: "phone", name, version, capabilities: [], ...(deviceId ? { deviceId } : {}) };
  }

  #makeTerminals(effects: { clock: Clock; random: () => number }): TerminalStreams {
    const { sealing } = this.#parts;
    return new TerminalStreams({
      ...effects,
      send: (event, data) => this.#link.send(event, data),
      sendBinary: (bytes) => this.#link.sendBinary(bytes),
      phone: () => this.#account.deviceId ?? "",
      pairedHost: (deviceId) => sealing.pairedHost(deviceId),
      canSeal: sealing.isPossible,
    });
  }

  /** Sealed for a paired host, plain for others. */
  async #post(message: Message, signal: AbortSignal): Promise<PushAccepted> {
    const { sealing } = this.#parts;
    const push = message.answers === undefined
      ? await commandPush(message, sealing)
      : await answerPush(message, sealing);
    return await this.#api.sendPush(push, { signal });
  }

  /** For news of pushes: what the relay has need not be kept here. */
  async #tell(event: PhoneEvent): Promise<void> {
    const { store, kept } = this.#parts;
    store.dispatch(event);
    await kept.sweep(store.get().messages);
  }

  #onLink(state: LinkState): void {
    const { store } = this.#parts;
    const wasLive = store.get().link.kind === "live";
    store.dispatch({ type: "link", link: state });
    if (state.state === "connected" && state.answering && !wasLive) {
      void this.#keepDeviceId(state.welcome.deviceId);
      void this.#catchUp();
    }
    if (state.state === "connected") this.#terminals.live();
    else this.#terminals.lost();
    if (state.state === "waiting" && state.problem?.code === "handshake_failed") void this.#catchUp();
  }

  /** The relay names a phone that signed in with a key, once; under that name it is the same device next time. */
  async #keepDeviceId(deviceId: string): Promise<void> {
    if (this.#account.deviceId !== undefined) return;
    this.#account = { ...this.#account, deviceId };
    await this.#parts.storage.writeAccount(this.#account);
  }

  /** After every break, and where only HTTP passes: what waits is sent, what changed meanwhile is read. */
  async #catchUp(): Promise<void> {
    void this.#outbox.hurry();
    await orStale(async () => {
      const { devices } = await this.#api.sessions();
      this.#parts.store.dispatch({ type: "sessions", devices: devices.map((one) => this.#trusted(one)) });
      await this.#readHistory("end");
    });
  }

  async #readHistory(before: string): Promise<void> {
    const { pushes } = await this.#api.listPushes({ before, limit: PAGE_LIMIT_MAX });
    const records = await this.#parts.sealing.readable(pushes);
    await this.#tell({ type: "history", records, page: pushes.length < PAGE_LIMIT_MAX ? "last" : "more" });
  }

  #onFrame(frame: Frame): void {
    const { store } = this.#parts;
    if (frame.event === "sessions.changed") {
      store.dispatch({ type: "device", device: this.#trusted(frame.data) });
    }
    this.#terminals.frame(frame);
    if (frame.event === "push.new") void orStale(() => this.#meet(frame.data.id));
    if (frame.event !== "push.updated") return;
    const { messages, inbox } = store.get();
    const isKnown = messages.has(frame.data.id) || inbox.has(frame.data.id);
    if (isKnown) void this.#hear(frame.data);
    else void orStale(() => this.#meet(frame.data.id));
  }

  async #hear({ id, receipt }: EventData<"push.updated">): Promise<void> {
    const heard = await this.#parts.sealing.heard(id, receipt);
    await this.#tell({ type: "receipt", update: { id, receipt: heard } });
  }

  #trusted(device: DeviceSessions): DeviceSessions {
    return trustedSessions(device, this.#parts.sealing.pairedHost(device.deviceId));
  }

  /** A question, a note, or what another phone or a script sent. */
  async #meet(id: string): Promise<void> {
    const records = await this.#parts.sealing.readable([await this.#api.getPush(id)]);
    await this.#tell({ type: "history", records });
  }
}

/** A question to the relay that failed leaves what is shown as it is: the link's state says why. */
async function orStale(ask: () => Promise<void>): Promise<void> {
  try {
    await ask();
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
  }
}
