/** The one reconnecting socket to the relay, for the listener, the phone and the MCP tools. */
import { encodeFrame, type EventData, type EventName, parseFrame } from "../protocol/frames.ts";
import { BACKOFF_MAX_MS } from "../protocol/limits.ts";
import { httpBaseFromWs } from "./addresses.ts";
import { createRelayApi, type RelayApi } from "./api.ts";
import { attemptsAfter, backoffDelayMs } from "./backoff.ts";
import { type Clock, systemClock } from "./clock.ts";
import { CALM_RHYTHM, Heartbeat, WATCHED_RHYTHM } from "./heartbeat.ts";
import { closeProblem, explainHandshake, isLasting, type LinkProblem, linkProblem } from "./link_problem.ts";
import type { LinkCounters, LinkState, RelayLinkOptions } from "./link_state.ts";
import { createNativeSocket, keyProtocols, type LinkSocket, type SocketEnd } from "./socket.ts";

/** A connection that is not open and welcomed in this time is given up. */
export const CONNECT_LIMIT_MS = 10_000;
/** More than this unsent means that the relay does not read: the connection is given up. */
export const UNSENT_MAX_BYTES = 4_194_304;

/**
 * Holds one connection at a time and comes back by itself until `close`. It queues nothing: `send` answers false while
 * there is no connection, and its owner decides what to say again once the state is `connected`.
 */
export class RelayLink {
  readonly counters: LinkCounters = { unknownEvents: 0, malformedFrames: 0 };
  readonly #options: RelayLinkOptions;
  readonly #clock: Clock;
  readonly #api: RelayApi;
  #state: LinkState = { state: "closed" };
  #socket: LinkSocket | undefined;
  #heartbeat: Heartbeat | undefined;
  #cancelTimer: () => void = () => {};
  #probe = new AbortController();
  #attempts = 0;
  #welcomedAt: number | undefined;
  #watched = false;

  constructor(options: RelayLinkOptions) {
    const { wsUrl, apiKey, fetch, clock = systemClock } = options;
    this.#options = options;
    this.#clock = clock;
    this.#api = createRelayApi({ baseUrl: httpBaseFromWs(wsUrl), apiKey, ...(fetch ? { fetch } : {}) });
  }

  get state(): LinkState {
    return this.#state;
  }

  get connected(): boolean {
    return this.#state.state === "connected";
  }

  start(): void {
    if (this.#state.state === "closed") this.#connect();
  }

  close(): void {
    this.#letGo();
    this.#setState({ state: "closed" });
  }

  /** Cuts a wait short; a connection that stands is asked whether it still does. */
  reconnectNow(): void {
    if (this.#state.state === "waiting") this.#connect();
    else this.#heartbeat?.check();
  }

  /** While a person looks at the screen, silence is noticed within 2 s. */
  watch(watched: boolean): void {
    this.#watched = watched;
    this.#heartbeat?.setRhythm(watched ? WATCHED_RHYTHM : CALM_RHYTHM);
  }

  /** False when there is no connection: nothing was sent. */
  send<E extends EventName>(event: E, data: EventData<E>, ids?: { id?: string; re?: string }): boolean {
    return this.connected && this.#write(encodeFrame(event, data, ids));
  }

  /** False when there is no connection: nothing was sent. */
  sendBinary(bytes: Uint8Array): boolean {
    return this.connected && this.#write(bytes);
  }

  #connect(): void {
    this.#letGo();
    this.#setState({ state: "connecting" });
    if (this.#state.state !== "connecting") return;
    const { wsUrl, apiKey, createSocket = createNativeSocket } = this.#options;
    let opened = false;
    const ended = (end: SocketEnd): void => opened ? this.#lost(closeProblem(end)) : this.#refused();
    this.#cancelTimer = this.#clock.after(
      CONNECT_LIMIT_MS,
      () => opened ? this.#lost(linkProblem("no_welcome")) : this.#refused(),
    );
    this.#socket = createSocket(wsUrl, keyProtocols(apiKey), {
      opened: () => {
        opened = true;
        this.#write(encodeFrame("hello", this.#options.hello()));
      },
      text: (text) => this.#received(text),
      bytes: (bytes) => {
        this.#heartbeat?.heard();
        this.#options.onBinary?.(bytes);
      },
      ended,
    });
  }

  #received(text: string): void {
    this.#heartbeat?.heard();
    const frame = parseFrame(text);
    if ("fault" in frame) {
      this.counters[frame.fault === "malformed" ? "malformedFrames" : "unknownEvents"]++;
    } else if (frame.event === "welcome") this.#welcomed(frame.data);
    else if (frame.event === "ping") this.#write(encodeFrame("pong", {}, frame.id ? { re: frame.id } : {}));
    else if (frame.event !== "pong") this.#options.onFrame(frame);
  }

  #welcomed(welcome: EventData<"welcome">): void {
    if (this.#state.state !== "connecting") return;
    this.#cancelTimer();
    this.#welcomedAt = this.#clock.elapsed();
    this.#heartbeat = new Heartbeat(this.#watched ? WATCHED_RHYTHM : CALM_RHYTHM, {
      clock: this.#clock,
      ping: () => void this.#write(encodeFrame("ping", {})),
      onAnswering: (answering) => this.#answers(answering),
      onDead: () => this.#lost(linkProblem("silent")),
    });
    const clockOffsetMs = welcome.now - this.#clock.now();
    this.#setState({ state: "connected", welcome, clockOffsetMs, answering: true });
  }

  #answers(answering: boolean): void {
    if (this.#state.state === "connected") this.#setState({ ...this.#state, answering });
  }

  #write(data: string | Uint8Array): boolean {
    const socket = this.#socket;
    if (socket === undefined) return false;
    if (socket.bufferedAmount + data.length > UNSENT_MAX_BYTES) {
      this.#lost(linkProblem("congested"));
      return false;
    }
    socket.send(data);
    return true;
  }

  /** The handshake failed: try again, and find out meanwhile why. */
  #refused(): void {
    this.#lost(undefined);
    if (this.#state.state !== "waiting") return;
    const { signal } = this.#probe;
    explainHandshake(this.#api, signal).then((problem) => {
      const state = this.#state;
      if (signal.aborted || state.state !== "waiting") return;
      if (isLasting(problem)) this.#wait(BACKOFF_MAX_MS, problem);
      else this.#setState({ ...state, problem });
    });
  }

  #lost(problem: LinkProblem | undefined): void {
    const lastedMs = this.#welcomedAt === undefined ? 0 : this.#clock.elapsed() - this.#welcomedAt;
    const attempts = attemptsAfter(this.#attempts, lastedMs);
    this.#letGo();
    const random = this.#options.random ?? Math.random;
    this.#attempts = attempts + 1;
    this.#wait(isLasting(problem) ? BACKOFF_MAX_MS : backoffDelayMs(attempts, random()), problem);
  }

  #wait(retryInMs: number, problem: LinkProblem | undefined): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#clock.after(retryInMs, () => this.#connect());
    this.#setState({ state: "waiting", retryInMs, ...(problem ? { problem } : {}) });
  }

  /** Ends the socket, every timer and the question under way: there are never two connections. */
  #letGo(): void {
    this.#probe.abort();
    this.#probe = new AbortController();
    this.#cancelTimer();
    this.#heartbeat?.stop();
    this.#heartbeat = undefined;
    this.#welcomedAt = undefined;
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
  }

  #setState(state: LinkState): void {
    this.#state = state;
    this.#options.onState(state);
  }
}
