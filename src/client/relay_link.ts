/** The reconnecting socket to the relay, used by the listener, the phone and the MCP tools, and the heartbeat that notices when it is dead. */
import { type Clock, systemClock } from "../async/clock.ts";
import { encodeBase64url, encodeUtf8 } from "../async/encodings.ts";
import { encodeFrame, type EventData, type EventName, type Frame, parseFrame } from "../protocol/frames.ts";
import {
  BACKOFF_MAX_MS,
  KEY_SUBPROTOCOL_PREFIX,
  PING_INTERVAL_MS,
  SILENCE_LIMIT_MS,
  SUBPROTOCOL,
} from "../protocol/limits.ts";
import { httpBaseFromWs } from "./addresses.ts";
import { createRelayApi, type Fetch, type RelayApi } from "./api.ts";
import { attemptsAfter, backoffDelayMs } from "./relay_error.ts";
import { closeProblem, explainHandshake, isLasting, type LinkProblem, linkProblem } from "./link_problem.ts";

/** A connection that is not open and welcomed within this time is dropped. */
export const CONNECT_LIMIT_MS = 10_000;
/** With more than this unsent, the relay is not reading: the connection is dropped. */
export const UNSENT_MAX_BYTES = 4_194_304;

/**
 * Holds one connection at a time and reconnects until `close`. It queues nothing: `send` returns false while there is
 * no connection, and the owner decides what to resend once the state is `connected`.
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
    this.#drop();
    this.#setState({ state: "closed" });
  }

  /** Ends a wait early, or pings the connection to check that it is still alive. */
  reconnectNow(): void {
    if (this.#state.state === "waiting") this.#connect();
    else this.#heartbeat?.check();
  }

  /** Reconnects after this computer's clock has jumped: the new welcome gives the offset to the relay's clock. */
  restart(): void {
    if (this.connected) this.#onLost(undefined);
  }

  /** While the user is looking at the screen, silence is noticed within 2 s. */
  watch(watched: boolean): void {
    this.#watched = watched;
    this.#heartbeat?.setRhythm(watched ? WATCHED_RHYTHM : CALM_RHYTHM);
  }

  /** Returns false, and sends nothing, if there is no connection. */
  send<E extends EventName>(event: E, data: EventData<E>, ids?: { id?: string; re?: string }): boolean {
    return this.connected && this.#write(encodeFrame(event, data, ids));
  }

  /** Returns false, and sends nothing, if there is no connection. */
  sendBinary(bytes: Uint8Array): boolean {
    return this.connected && this.#write(bytes);
  }

  #connect(): void {
    this.#drop();
    this.#setState({ state: "connecting" });
    if (this.#state.state !== "connecting") return;
    const { wsUrl, apiKey, createSocket = createNativeSocket } = this.#options;
    let opened = false;
    const ended = (end: SocketEnd): void => opened ? this.#onLost(closeProblem(end)) : this.#onRefused();
    this.#cancelTimer = this.#clock.after(
      CONNECT_LIMIT_MS,
      () => opened ? this.#onLost(linkProblem("no_welcome")) : this.#onRefused(),
    );
    this.#socket = createSocket(wsUrl, keyProtocols(apiKey), {
      opened: () => {
        opened = true;
        this.#write(encodeFrame("hello", this.#options.hello()));
      },
      text: (text) => this.#onText(text),
      bytes: (bytes) => {
        this.#heartbeat?.heard();
        this.#options.onBinary?.(bytes);
      },
      ended,
    });
  }

  #onText(text: string): void {
    this.#heartbeat?.heard();
    const frame = parseFrame(text);
    if ("fault" in frame) {
      this.counters[frame.fault === "malformed" ? "malformedFrames" : "unknownEvents"]++;
    } else if (frame.event === "welcome") this.#onWelcome(frame.data);
    else if (frame.event === "ping") this.#write(encodeFrame("pong", {}, frame.id ? { re: frame.id } : {}));
    else if (frame.event !== "pong") this.#options.onFrame(frame);
  }

  #onWelcome(welcome: EventData<"welcome">): void {
    if (this.#state.state !== "connecting") return;
    this.#cancelTimer();
    this.#welcomedAt = this.#clock.elapsed();
    this.#heartbeat = new Heartbeat(this.#watched ? WATCHED_RHYTHM : CALM_RHYTHM, {
      clock: this.#clock,
      ping: () => void this.#write(encodeFrame("ping", {})),
      onAnswering: (answering) => this.#setAnswering(answering),
      onDead: () => this.#onLost(linkProblem("silent")),
    });
    const clockOffsetMs = welcome.now - this.#clock.now();
    this.#setState({ state: "connected", welcome, clockOffsetMs, answering: true });
  }

  #setAnswering(answering: boolean): void {
    if (this.#state.state === "connected") this.#setState({ ...this.#state, answering });
  }

  #write(data: string | Uint8Array): boolean {
    const socket = this.#socket;
    if (socket === undefined) return false;
    if (socket.bufferedAmount + data.length > UNSENT_MAX_BYTES) {
      this.#onLost(linkProblem("congested"));
      return false;
    }
    socket.send(data);
    return true;
  }

  /** The handshake failed: retry, and find out why in the meantime. */
  #onRefused(): void {
    this.#onLost(undefined);
    if (this.#state.state !== "waiting") return;
    const { signal } = this.#probe;
    explainHandshake(this.#api, signal).then((problem) => {
      const state = this.#state;
      if (signal.aborted || state.state !== "waiting") return;
      if (isLasting(problem)) this.#wait(BACKOFF_MAX_MS, problem);
      else this.#setState({ ...state, problem });
    });
  }

  #onLost(problem: LinkProblem | undefined): void {
    const lastedMs = this.#welcomedAt === undefined ? 0 : this.#clock.elapsed() - this.#welcomedAt;
    const attempts = attemptsAfter(this.#attempts, lastedMs);
    this.#drop();
    const random = this.#options.random ?? Math.random;
    this.#attempts = attempts + 1;
    this.#wait(isLasting(problem) ? BACKOFF_MAX_MS : backoffDelayMs(attempts, random()), problem);
  }

  #wait(retryInMs: number, problem: LinkProblem | undefined): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#clock.after(retryInMs, () => this.#connect());
    this.#setState({ state: "waiting", retryInMs, ...(problem ? { problem } : {}) });
  }

  /** Closes the socket and cancels every timer and probe, so that there are never two connections. */
  #drop(): void {
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

export type LinkState =
  | { state: "connecting" }
  | {
    state: "connected";
    welcome: EventData<"welcome">;
    /** The relay's clock minus this one, in milliseconds. */
    clockOffsetMs: number;
    /** False while the relay is silent but the connection is still open. */
    answering: boolean;
  }
  | { state: "waiting"; retryInMs: number; problem?: LinkProblem }
  | { state: "closed" };

export interface RelayLinkOptions {
  wsUrl: string;
  apiKey: string;
  /** Called for every connection. */
  hello(): EventData<"hello">;
  /** Called with every frame except welcome, ping and pong. */
  onFrame(frame: Frame): void;
  onBinary?(bytes: Uint8Array): void;
  onState(state: LinkState): void;
  /** In [0, 1). */
  random?: () => number;
  clock?: Clock;
  createSocket?: CreateSocket;
  /** For the HTTP request that explains a failed handshake. */
  fetch?: Fetch;
}

/** Frames that were ignored since the link was created. */
interface LinkCounters {
  unknownEvents: number;
  malformedFrames: number;
}

export interface SocketEnd {
  /** Close code; 1006 when the connection broke without one. */
  code: number;
  reason: string;
}

export interface SocketHandlers {
  opened(): void;
  text(text: string): void;
  bytes(bytes: Uint8Array): void;
  /** Called at most once, and never after a local `close`. */
  ended(end: SocketEnd): void;
}

export interface LinkSocket {
  readonly bufferedAmount: number;
  send(data: string | Uint8Array): void;
  /** Closes the socket; no handler is called afterwards. */
  close(): void;
}

export type CreateSocket = (url: string, protocols: string[], handlers: SocketHandlers) => LinkSocket;

/**
 * The entries of `Sec-WebSocket-Protocol` that carry the key: the only header of the handshake that every runtime lets
 * a client set.
 */
export function keyProtocols(apiKey: string): string[] {
  return [SUBPROTOCOL, KEY_SUBPROTOCOL_PREFIX + encodeBase64url(encodeUtf8(apiKey))];
}

/** Node 22 reports a failed handshake with `error` alone, others also with `close`: only the first is passed on. */
export const createNativeSocket: CreateSocket = (url, protocols, handlers) => {
  const socket = new WebSocket(url, protocols);
  socket.binaryType = "arraybuffer";
  const abort = new AbortController();
  const { signal } = abort;
  let open = false;
  const end = (found: SocketEnd): void => {
    if (signal.aborted) return;
    abort.abort();
    handlers.ended(found);
  };
  socket.addEventListener("open", () => {
    open = true;
    handlers.opened();
  }, { signal });
  socket.addEventListener("message", (event: MessageEvent<unknown>) => {
    if (typeof event.data === "string") handlers.text(event.data);
    else if (event.data instanceof ArrayBuffer) handlers.bytes(new Uint8Array(event.data));
  }, { signal });
  socket.addEventListener("close", ({ code, reason }) => end({ code: code || 1006, reason }), { signal });
  socket.addEventListener("error", () => {
    if (!open) end({ code: 1006, reason: "" });
  }, { signal });
  return {
    get bufferedAmount() {
      return socket.bufferedAmount;
    },
    send: (data) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(data as string | Uint8Array<ArrayBuffer>);
    },
    close: () => {
      abort.abort();
      socket.close(1000);
    },
  };
};

export interface Rhythm {
  pingEveryMs: number;
  /** After this much silence the peer is reported as not answering; the connection is kept. */
  quietAfterMs: number;
  /** After this much silence the connection is treated as dead. */
  deadAfterMs: number;
}

/** The protocol's default. */
export const CALM_RHYTHM: Rhythm = {
  pingEveryMs: PING_INTERVAL_MS,
  quietAfterMs: SILENCE_LIMIT_MS,
  deadAfterMs: SILENCE_LIMIT_MS,
};

/** While the user is looking: a dead link shows within 2 s, but a slow mobile connection is not cut off. */
export const WATCHED_RHYTHM: Rhythm = { pingEveryMs: 750, quietAfterMs: 1_600, deadAfterMs: 5_000 };

interface HeartbeatOptions {
  clock: Clock;
  ping(): void;
  /** The peer stopped answering (false), or answers again (true). */
  onAnswering(answering: boolean): void;
  /** Called once; the heartbeat has stopped itself. */
  onDead(): void;
}

/** Watches one open connection: pings regularly, and reports when it goes silent and when it is dead. */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  #rhythm: Rhythm;
  #heardAt: number;
  #pingedAt: number;
  #answering = true;
  #stopped = false;
  #cancel: () => void = () => {};

  constructor(rhythm: Rhythm, options: HeartbeatOptions) {
    this.#options = options;
    this.#rhythm = rhythm;
    this.#heardAt = options.clock.elapsed();
    this.#pingedAt = this.#heardAt;
    this.#arm();
  }

  /** Call this for everything received: the peer is alive. */
  heard(): void {
    this.#heardAt = this.#options.clock.elapsed();
    if (this.#answering) return;
    this.#answering = true;
    this.#options.onAnswering(true);
  }

  /** A faster rhythm starts with a ping, and measures silence from now. */
  setRhythm(rhythm: Rhythm): void {
    if (rhythm === this.#rhythm) return;
    const isFaster = rhythm.pingEveryMs < this.#rhythm.pingEveryMs;
    this.#rhythm = rhythm;
    if (isFaster) this.check();
    else this.#arm();
  }

  /** Pings now and measures silence from here. */
  check(): void {
    this.#heardAt = this.#options.clock.elapsed();
    this.#ping();
    this.#arm();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  #ping(): void {
    this.#pingedAt = this.#options.clock.elapsed();
    this.#options.ping();
  }

  #tick(): void {
    const now = this.#options.clock.elapsed();
    const silence = now - this.#heardAt;
    if (silence >= this.#rhythm.deadAfterMs) {
      this.stop();
      return this.#options.onDead();
    }
    if (silence >= this.#rhythm.quietAfterMs && this.#answering) {
      this.#answering = false;
      this.#options.onAnswering(false);
    }
    if (now - this.#pingedAt >= this.#rhythm.pingEveryMs) this.#ping();
    this.#arm();
  }

  #arm(): void {
    this.#cancel();
    if (this.#stopped) return;
    const { pingEveryMs, quietAfterMs, deadAfterMs } = this.#rhythm;
    const silenceEnds = this.#heardAt + (this.#answering ? quietAfterMs : deadAfterMs);
    const next = Math.min(this.#pingedAt + pingEveryMs, silenceEnds);
    const wait = Math.max(0, next - this.#options.clock.elapsed());
    this.#cancel = this.#options.clock.after(Math.ceil(wait), () => this.#tick());
  }
}
