/** A relay without a port: a real store and hub, a fake clock, and in-memory sockets. */
import { Mutex } from "../../../src/async/mutex.ts";
import { LocalBus } from "../../../src/bus/bus.ts";
import {
  encodeFrame,
  type EventData,
  type EventName,
  type Frame,
  parseFrame,
} from "../../../src/protocol/frames.ts";
import type { Scope } from "../../../src/protocol/http.ts";
import { KEY_SUBPROTOCOL_PREFIX, SUBPROTOCOL } from "../../../src/protocol/limits.ts";
import { Admission } from "../../../src/relay/admission.ts";
import { encodeBase64url } from "../../../src/async/encodings.ts";
import { TokenBuckets } from "../../../src/async/token_bucket.ts";
import { makeBudgets } from "../../../src/relay/budgets.ts";
import { Hub } from "../../../src/relay/hub.ts";
import { createKey, type NewKey } from "../../../src/relay/api_keys.ts";
import { PushClaims } from "../../../src/relay/outbox.ts";
import { ClaimAnswers } from "../../../src/relay/claim_answers.ts";
import { RelayMetrics } from "../../../src/relay/metrics.ts";
import { publishReceipt } from "../../../src/relay/receipts.ts";
import { type Services, Tasks } from "../../../src/relay/handler.ts";
import { admit } from "../../../src/relay/websocket.ts";
import type { StaticFiles } from "../../../src/relay/static_files.ts";
import { RemotePhones } from "../../../src/relay/remote_phones.ts";
import { type App, createApp } from "../../../src/relay/routes.ts";
import { Streams } from "../../../src/relay/streams.ts";
import { WebPush } from "../../../src/relay/web_push.ts";
import { Upkeep } from "../../../src/relay/upkeep.ts";
import type { PostAnswer, PublicPost } from "../../../src/runtime/public_post.ts";
import type { ServerSocket, SocketHandlers } from "../../../src/runtime/http_server.ts";
import { openStore } from "../../../src/store/sqlite.ts";
import type { Store } from "../../../src/store/store.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";
import { sampleSession } from "../../helpers/sample_session.ts";

export class FakeSocket implements ServerSocket {
  readonly sent: (string | Uint8Array)[] = [];
  pings = 0;
  unread = 0;
  unfinished = 0;
  closedWith: { code: number; reason: string } | undefined;
  terminated = false;
  paused = false;
  handlers: SocketHandlers | undefined;

  send(data: string | Uint8Array): void {
    this.sent.push(data);
  }
  ping(): void {
    this.pings += 1;
  }
  /** The peer answers the close at once, unless `deaf` is set. */
  close(code: number, reason: string): void {
    this.closedWith ??= { code, reason };
    if (!this.deaf) this.handlers?.closed(code);
  }
  pause(): void {
    this.paused = true;
  }
  terminate(): void {
    this.terminated = true;
    this.handlers?.closed(1006);
  }
  bufferedBytes(): number {
    return this.unread;
  }
  unfinishedBytes(): number {
    return this.unfinished;
  }
  deaf = false;
}

/** A client's end of a fake socket. */
export class FakeClient {
  readonly socket: FakeSocket;
  readonly #settle: () => Promise<void>;

  constructor(socket: FakeSocket, settle: () => Promise<void>) {
    this.socket = socket;
    this.#settle = settle;
  }

  /** Sends a frame and waits until all background work is done. */
  async send<E extends EventName>(event: E, data: EventData<E>, id?: string): Promise<void> {
    await this.sendText(encodeFrame(event, data, id === undefined ? {} : { id }));
  }

  async sendText(text: string): Promise<void> {
    this.socket.handlers?.text(text);
    await this.#settle();
  }

  /** Returns the received frames of one event. */
  received<E extends EventName>(event: E): Extract<Frame, { event: E }>[] {
    const texts = this.socket.sent.filter((data) => typeof data === "string");
    const frames = texts.map((text) => parseFrame(text)).filter((frame): frame is Frame => "event" in frame);
    return frames.filter((frame): frame is Extract<Frame, { event: E }> => frame.event === event);
  }

  leave(): void {
    this.socket.handlers?.closed(1001);
  }
}

export interface RequestOptions {
  key?: string | undefined;
  body?: unknown;
  headers?: Record<string, string>;
  address?: string;
}

/** A relay's parts, with shortcuts for tests. */
export class Fixture implements AsyncDisposable {
  readonly clock = new FakeClock();
  readonly logged: string[] = [];
  readonly bus = new LocalBus();
  readonly metrics = new RelayMetrics();
  /** The operator's contact for browser vendors. */
  contact: string | undefined = "mailto:operator@relay.test";
  /** The browser vendor's answer to a Web Push message. */
  vendor: (post: PublicPost) => Promise<PostAnswer> = () => Promise.resolve({ status: 201 });
  readonly services: Services;
  readonly upkeep: Upkeep;
  readonly app: App;
  readonly #directory: string;
  readonly #listenerKeys = new Map<string, string>();

  private constructor(store: Store, directory: string, files: StaticFiles) {
    const failed = (error: unknown): void => void this.logged.push(`task failed: ${error}`);
    const tasks = new Tasks(failed);
    const { bus, metrics } = this;
    const hub = new Hub({ bus, metrics, run: (work) => tasks.run(work) });
    const remote = new RemotePhones({ bus, store });
    const budgets = { ...makeBudgets(), claims: new TokenBuckets({ perSecond: 0.2, burst: 3 }) };
    this.services = {
      store,
      bus,
      metrics,
      hub,
      streams: new Streams({ store, hub, remote, metrics }),
      remote,
      webPush: this.makeWebPush({ store, hub, tasks }),
      clock: this.clock,
      claims: new PushClaims(),
      claimAnswers: new ClaimAnswers(),
      budgets,
      admission: new Admission({ budgets, clock: this.clock, metrics }),
      pageReads: new Mutex(),
      tasks,
      log: (line) => void this.logged.push(line),
    };
    this.upkeep = new Upkeep(this.services);
    this.app = createApp({ services: this.services, files });
    this.#directory = directory;
  }

  /** Makes the Web Push of another node, or of the next run of this one. */
  makeWebPush({ store, hub, tasks }: Pick<Services, "store" | "hub" | "tasks"> = this.services): WebPush {
    const { bus, metrics, clock } = this;
    return new WebPush({
      store,
      metrics,
      clock,
      isConnected: async (device) => hub.isConnected(device) || await store.nodeOf(device) !== undefined,
      run: (work) => tasks.run(work),
      changed: (stored) => publishReceipt({ bus }, stored),
      log: (line) => void this.logged.push(line),
      post: (post) => this.vendor(post),
      contact: () => this.contact,
    });
  }

  static async make(files: StaticFiles = new Map()): Promise<Fixture> {
    const directory = await Deno.makeTempDir({ prefix: "svc-relay-" });
    return new Fixture(await openStore(directory), directory, files);
  }

  async key(
    scopes: readonly Scope[] = ["push:send", "push:read"],
    fields: Partial<NewKey> = {},
  ): Promise<string> {
    const now = this.clock.now();
    return (await createKey(this.services.store, { name: "test", scopes, now, ...fields })).key;
  }

  async request(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
    const { key, body, headers = {}, address = "192.0.2.1" } = options;
    const isText = typeof body === "string";
    const request = new Request(`http://relay${path}`, {
      method,
      headers: {
        ...(key === undefined ? {} : { "x-api-key": key }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
    });
    return await this.app(request, address);
  }

  handshake(key: string | undefined, headers: Record<string, string> = {}, path = "/ws"): Request {
    const offered = key === undefined ? SUBPROTOCOL : handshakeProtocols(key);
    return new Request(`http://relay${path}`, { headers: { "sec-websocket-protocol": offered, ...headers } });
  }

  /** Opens an admitted socket that has sent nothing. */
  async open(key: string): Promise<FakeClient> {
    const open = await admit(this.services, this.handshake(key));
    const socket = new FakeSocket();
    socket.handlers = open(socket);
    return new FakeClient(socket, () => this.settle());
  }

  /** Opens a socket that has sent hello. */
  async connect(key: string, hello: Partial<EventData<"hello">> = {}): Promise<FakeClient> {
    const client = await this.open(key);
    await client.send("hello", helloOf(hello));
    return client;
  }

  /** Connects a listener with its own key, the same for each connection. */
  async listener(deviceId = "dev_listener_0a1b2c3d"): Promise<FakeClient> {
    const key = this.#listenerKeys.get(deviceId) ?? await this.key(["push:read"]);
    this.#listenerKeys.set(deviceId, key);
    return await this.connect(key, { role: "listener", deviceId });
  }

  settle(): Promise<void> {
    return this.services.tasks.settled();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.services.webPush.stop();
    await this.settle();
    await this.services.store.close();
    await Deno.remove(this.#directory, { recursive: true });
  }
}

export function handshakeProtocols(key: string): string {
  return `${SUBPROTOCOL}, ${KEY_SUBPROTOCOL_PREFIX}${encodeBase64url(new TextEncoder().encode(key))}`;
}

export function helloOf(fields: Partial<EventData<"hello">> = {}): EventData<"hello"> {
  return { role: "phone", name: "test", version: "1.0.0", capabilities: [], ...fields };
}

export function sessionNamed(name: string): EventData<"listener.sessions">["sessions"][number] {
  return sampleSession({ name });
}

export const uuid = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

export function command(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { type: "agent.command", agentSessionName: "svc-p", body: "hello", ...fields };
}
