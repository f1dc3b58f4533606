/** A hostile relay: a proxy for real HTTP and WebSockets before an honest relay, which tampers as a test decides. */
import { parseJson } from "../../src/protocol/json.ts";
import {
  BINARY_FRAME_MAX_BYTES,
  REQUEST_MAX_BYTES,
  SUBPROTOCOL,
  TEXT_FRAME_MAX_BYTES,
} from "../../src/protocol/limits.ts";
import {
  type HttpServer,
  type HttpServerLimits,
  serveHttp,
  type ServerSocket,
  type SocketHandlers,
} from "../../src/runtime/http_server.ts";

const HOST = "127.0.0.1";

export type Side = "phone" | "listener";

/** `up`: toward the honest relay. */
export interface Way {
  side: Side;
  direction: "up" | "down";
}

export const WAYS = {
  fromPhone: { side: "phone", direction: "up" },
  toPhone: { side: "phone", direction: "down" },
  fromHost: { side: "listener", direction: "up" },
  toHost: { side: "listener", direction: "down" },
} as const satisfies Record<string, Way>;

export interface WireFrame {
  event: string;
  data: Record<string, unknown>;
  id?: string;
  re?: string;
}

/** An HTTP call; `body` is its JSON. */
export interface HttpCall {
  method: string;
  path: string;
  body: unknown;
}

/** Replaces what passes; a missing handler passes everything unchanged. */
export interface Attack {
  frame?(frame: WireFrame, way: Way): WireFrame[];
  bytes?(bytes: Uint8Array, way: Way): Uint8Array[];
  /** Returns the body to forward, or an answer for which the honest relay is not asked. */
  call?(call: HttpCall): { body: unknown } | { answer: unknown; status: number };
  /** Returns the answer to pass on; if it is a promise, the client waits for it. */
  answer?(body: unknown, call: HttpCall): unknown;
}

/** Replaces the data of control frames of this event in this direction; undefined drops them. */
export function rewriting(
  event: string,
  way: Way,
  change: (data: Record<string, unknown>) => Record<string, unknown> | undefined,
): Attack {
  return {
    frame: (frame, at) => {
      if (frame.event !== event || !isSame(at, way)) return [frame];
      const data = change(frame.data);
      return data === undefined ? [] : [{ ...frame, data }];
    },
  };
}

export function isSame(one: Way, other: Way): boolean {
  return one.side === other.side && one.direction === other.direction;
}

export type Crossed = { way: Way } & ({ frame: WireFrame } | { bytes: Uint8Array });

interface Joined {
  side: Side;
  near: ServerSocket;
  far: WebSocket;
  /** Frames from the client until the honest relay is connected. */
  early: (string | Uint8Array)[] | undefined;
}

const LIMITS: HttpServerLimits = {
  bodyBytes: REQUEST_MAX_BYTES,
  textFrameBytes: TEXT_FRAME_MAX_BYTES,
  binaryFrameBytes: BINARY_FRAME_MAX_BYTES,
  headerBytes: 16_384,
  headersMs: 60_000,
  requestMs: 60_000,
  keepAliveMs: 60_000,
  plainConnections: 1_024,
  connectionsPerAddress: 1_024,
  unsentBytesPerAddress: 67_108_864,
};

export class HostileRelay implements AsyncDisposable {
  attack: Attack = {};
  /** Everything received over WebSockets, before any change. */
  readonly crossed: Crossed[] = [];
  readonly #target: string;
  readonly #joined = new Set<Joined>();
  readonly #ends: Promise<void>[] = [];
  /** Paths and bodies of calls and answers. */
  readonly #spoken: string[] = [];
  #server: HttpServer | undefined;
  #isOver = false;

  /** `target` is the honest relay's HTTP address. */
  private constructor(target: string) {
    this.#target = target;
  }

  static async start(target: string): Promise<HostileRelay> {
    const relay = new HostileRelay(target);
    relay.#server = await serveHttp({
      hostname: HOST,
      port: 0,
      limits: LIMITS,
      subprotocol: SUBPROTOCOL,
      fetch: (request) => relay.#fetch(request),
      upgrade: (request) => Promise.resolve((socket) => relay.#join(request, socket)),
      tooLarge: () => new Response(null, { status: 413 }),
      forbiddenMethod: () => new Response(null, { status: 405 }),
      failed: (error) => new Response(String(error), { status: 502 }),
    });
    return relay;
  }

  get url(): string {
    return `http://${HOST}:${this.#server?.port}`;
  }

  get wsUrl(): string {
    return `${this.url.replace("http", "ws")}/ws`;
  }

  /** Returns everything that it could read, as text. */
  seen(): string {
    const frames = this.crossed.map((one) =>
      "frame" in one ? JSON.stringify(one.frame) : new TextDecoder("latin1").decode(one.bytes)
    );
    return [...this.#spoken, ...frames].join("\n");
  }

  /** Returns the control frames of this event in this direction, oldest first. */
  frames(event: string, way: Way): WireFrame[] {
    return this.crossed.flatMap((one) =>
      "frame" in one && one.frame.event === event && isSame(one.way, way) ? [one.frame] : []
    );
  }

  binaries(way: Way): Uint8Array[] {
    return this.crossed.flatMap((one) => "bytes" in one && isSame(one.way, way) ? [one.bytes] : []);
  }

  /** Sends a frame over the side's newest connection: down in the relay's name, up in the client's. */
  say(way: Way, said: WireFrame | Uint8Array): void {
    if (!this.answer(way, said)) throw new Error(`no ${way.side} is connected`);
  }

  /** The same for an answer that took time: false, and nothing is sent, if the side has left meanwhile. */
  answer({ side, direction }: Way, said: WireFrame | Uint8Array): boolean {
    const newest = [...this.#joined].filter((one) => one.side === side).at(-1);
    if (newest === undefined) return false;
    const data = said instanceof Uint8Array ? said.slice() : JSON.stringify(said);
    if (direction === "down") newest.near.send(data);
    else newest.far.send(data);
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    for (const { near, far } of this.#joined) {
      near.terminate();
      far.close();
    }
    await Promise.all(this.#ends);
    await this.#server?.stop(0);
  }

  async #fetch(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const text = await request.text();
    const call: HttpCall = { method: request.method, path: pathname + search, body: parseJson(text)?.value };
    const passed = this.attack.call?.(call) ?? { body: call.body };
    if ("answer" in passed) return Response.json(passed.answer, { status: passed.status });
    const found = await fetch(this.#target + call.path, {
      method: call.method,
      headers: [...request.headers].filter(([name]) => !["host", "content-length"].includes(name)),
      ...(text === "" ? {} : { body: JSON.stringify(passed.body) }),
    });
    return await this.#answer(found, { call, asked: text });
  }

  async #answer(found: Response, { call, asked }: { call: HttpCall; asked: string }): Promise<Response> {
    const text = await found.text();
    this.#spoken.push(call.path, asked, text);
    const json = parseJson(text);
    const { status } = found;
    if (json === undefined) return new Response(text === "" ? null : text, { status });
    return Response.json(await this.attack.answer?.(json.value, call) ?? json.value, { status });
  }

  #join(request: Request, near: ServerSocket): SocketHandlers {
    // A client that was cut off reconnects before the server has stopped, and the server would wait for it.
    if (this.#isOver) {
      near.terminate();
      return { text: () => {}, bytes: () => {}, alive: () => {}, closed: () => {} };
    }
    const protocols = (request.headers.get("sec-websocket-protocol") ?? "").split(/, */);
    const far = new WebSocket(`${this.#target.replace("http", "ws")}/ws`, protocols);
    far.binaryType = "arraybuffer";
    const joined: Joined = { side: "phone", near, far, early: [] };
    this.#joined.add(joined);
    this.#ends.push(
      new Promise((resolve) => {
        far.onerror = () => {};
        far.onclose = ({ code, reason }) => {
          near.close(code === 1000 || code === 1012 || code >= 3_000 ? code : 1011, reason);
          resolve();
        };
      }),
    );
    far.onopen = () => {
      const { early = [] } = joined;
      joined.early = undefined;
      for (const data of early) this.#pass(joined, { data, direction: "up" });
    };
    far.onmessage = ({ data }) => {
      this.#pass(joined, { data: typeof data === "string" ? data : new Uint8Array(data), direction: "down" });
    };
    const up = (data: string | Uint8Array): void => {
      if (joined.early !== undefined) joined.early.push(data);
      else this.#pass(joined, { data, direction: "up" });
    };
    // Until then a socket that is being closed has a timer.
    const gone = Promise.withResolvers<void>();
    this.#ends.push(gone.promise);
    return {
      text: up,
      bytes: (bytes) => up(bytes.slice()),
      alive: () => {},
      closed: () => {
        this.#joined.delete(joined);
        far.close();
        gone.resolve();
      },
    };
  }

  #pass(
    joined: Joined,
    { data, direction }: { data: string | Uint8Array; direction: Way["direction"] },
  ): void {
    const isHello = typeof data === "string" && JSON.parse(data).event === "hello";
    if (isHello) joined.side = JSON.parse(data).data.role === "listener" ? "listener" : "phone";
    const way = { side: joined.side, direction };
    for (const out of this.#changed(data, way)) {
      if (direction === "down") joined.near.send(out);
      else if (joined.far.readyState === WebSocket.OPEN) {
        joined.far.send(out as string | Uint8Array<ArrayBuffer>);
      }
    }
  }

  /** Returns what to forward. */
  #changed(data: string | Uint8Array, way: Way): (string | Uint8Array)[] {
    if (typeof data !== "string") {
      this.crossed.push({ way, bytes: data.slice() });
      return this.attack.bytes?.(data, way) ?? [data];
    }
    const frame: WireFrame = JSON.parse(data);
    this.crossed.push({ way, frame });
    return this.attack.frame?.(frame, way).map((one) => JSON.stringify(one)) ?? [data];
  }
}
