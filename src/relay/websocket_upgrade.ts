/** Upgrades requests to WebSockets: who may connect, and what happens to each frame and on close. */
import { CLOSE } from "../protocol/errors.ts";
import { type EventName, type Frame, parseFrame } from "../protocol/frames.ts";
import { KEY_FRAME_MAX_BYTES, SOCKETS_PER_KEY } from "../protocol/limits.ts";
import { KEY_FRAME } from "../protocol/pane_frame.ts";
import type { OpenSocket, SocketHandlers } from "../runtime/http_server.ts";
import type { DeviceName } from "../store/store.ts";
import { authenticate, checkSubprotocol, keyOfHandshake } from "./auth.ts";
import { FrameBudget, frameKind } from "./budgets.ts";
import { handleFrame, rejectSessions } from "./client_frames.ts";
import { Connection } from "./connection.ts";
import { greet } from "./greeting.ts";
import { Refusal, tooManyRequests } from "./problems.ts";
import type { Services } from "./services.ts";
import { tellSessions } from "./sessions.ts";

export const SOCKET_PATH = "/ws";

/** Frames that a client may send before it is welcomed. */
const EARLY_FRAMES_MAX = 32;

/** Refuses before any upgrade, or gives what takes the socket. */
export async function admit(services: Services, request: Request): Promise<OpenSocket> {
  if (new URL(request.url).pathname !== SOCKET_PATH) {
    throw new Refusal("not_found", `Cannot open a WebSocket here: its path is ${SOCKET_PATH}`);
  }
  const key = await authenticate(services.store, { key: keyOfHandshake(request), scopes: ["push:read"] });
  checkSubprotocol(request);
  const wait = services.requests.take(key.id, services.clock.now());
  const { overBudget } = services.metrics;
  if (wait > 0) {
    overBudget.add({ budget: "requests" });
    throw tooManyRequests(wait);
  }
  if (services.hub.socketsOf(key.id) >= SOCKETS_PER_KEY) {
    overBudget.add({ budget: "sockets" });
    throw tooManySockets();
  }
  return (socket) => {
    const connection = new Connection({
      id: crypto.randomUUID(),
      key,
      socket,
      clock: services.clock,
      unreadOfKey: () => services.hub.unreadOf(key.id),
      slow: () => services.metrics.slow.add(),
      flooded: (budget) => services.metrics.overBudget.add({ budget }),
    });
    services.hub.add(connection);
    return new Client(services, connection);
  };
}

function tooManySockets(): Refusal {
  return new Refusal(
    "too_many_sockets",
    `Cannot open another WebSocket: this key has ${SOCKETS_PER_KEY}; close some, or use another key`,
  );
}

/** Frames are taken in order; those that come while hello is being answered wait for it. */
class Client implements SocketHandlers {
  readonly #services: Services;
  readonly #connection: Connection;
  readonly #budget: FrameBudget;
  #early: Frame[] | undefined;

  constructor(services: Services, connection: Connection) {
    this.#services = services;
    this.#connection = connection;
    this.#budget = new FrameBudget(services.clock);
  }

  text(text: string): void {
    this.#connection.heard();
    if (!this.#connection.isOpen) return;
    const frame = parseFrame(text);
    if (!this.#mayTake(frame.event, text.length)) return;
    if ("fault" in frame) this.#refuse(frame);
    else if (this.#connection.greeted !== undefined) this.#handle(frame);
    else if (this.#early !== undefined) this.#wait(this.#early, frame);
    else this.#hello(frame);
  }

  bytes(bytes: Uint8Array): void {
    const connection = this.#connection;
    connection.heard();
    if (connection.isOpen && this.#mayTakeBytes(bytes)) this.#services.streams.bytes(connection, bytes);
  }

  alive(): void {
    this.#connection.heard();
  }

  closed(code: number): void {
    const { hub, tasks, log, streams } = this.#services;
    const { greeted, claimed, account } = this.#connection;
    streams.gone(this.#connection);
    const wasLast = hub.remove(this.#connection);
    if (greeted !== undefined) log(`${greeted.role} ${greeted.deviceId} disconnected (${code})`);
    if (wasLast && claimed !== undefined) tasks.run(goOffline(this.#services, { account, id: claimed }));
  }

  /** Over a budget it is the sender that goes. */
  #mayTake(event: EventName | undefined, bytes: number): boolean {
    const connection = this.#connection;
    const { budgets, clock } = this.#services;
    const kind = frameKind(event);
    if (!this.#budget.take(kind)) connection.flooded(kind);
    else if (event === "listener.sessions") {
      const { id } = connection.key;
      const now = clock.elapsed();
      if (budgets.inventories.take(id, now) > 0) connection.flooded("inventories");
      else if (budgets.inventoryBytes.take(id, now, bytes) > 0) connection.flooded("inventory_bytes");
    }
    return connection.isOpen;
  }

  #mayTakeBytes(bytes: Uint8Array): boolean {
    const connection = this.#connection;
    const { budgets, clock } = this.#services;
    if (connection.greeted?.role === "listener") {
      if (!this.#budget.take("pane")) connection.flooded("pane");
    } else if (bytes[0] !== KEY_FRAME) {
      if (!this.#budget.take("other")) connection.flooded("other");
    } else if (bytes.length > KEY_FRAME_MAX_BYTES) connection.flooded("key_frame_bytes");
    else if (!this.#budget.take("keys")) connection.flooded("keys");
    else if (budgets.keyBytes.take(connection.key.id, clock.elapsed(), bytes.length) > 0) {
      connection.flooded("key_bytes");
    }
    return connection.isOpen;
  }

  #handle(frame: Frame): void {
    handleFrame(this.#services, { connection: this.#connection, frame });
  }

  #hello(frame: Frame): void {
    if (frame.event !== "hello") return this.#connection.close(CLOSE.POLICY, "hello must be the first frame");
    this.#early = [];
    this.#services.tasks.run(this.#greet(frame));
  }

  async #greet({ data, id }: Extract<Frame, { event: "hello" }>): Promise<void> {
    const connection = this.#connection;
    try {
      await greet(this.#services, { connection, hello: data, re: id });
    } catch (error) {
      connection.close(CLOSE.SERVICE_RESTART, "the store cannot be used: come back");
      throw error;
    }
    const { greeted } = connection;
    if (greeted === undefined) return;
    this.#services.log(
      `${greeted.role} ${greeted.deviceId} connected (v${data.version.replace(/[^\w.+-]/g, "?")})`,
    );
    for (const frame of this.#early ?? []) this.#handle(frame);
    this.#early = undefined;
  }

  #wait(early: Frame[], frame: Frame): void {
    if (early.length < EARLY_FRAMES_MAX) early.push(frame);
    else this.#connection.close(CLOSE.POLICY, "too many frames before the welcome");
  }

  #refuse({ fault, detail, event, id }: Exclude<ReturnType<typeof parseFrame>, Frame>): void {
    const { metrics } = this.#services;
    if (fault === "unknown_event") return metrics.unknownEvents.add();
    metrics.malformed.add();
    if (event === "hello") this.#connection.close(CLOSE.POLICY, detail.slice(0, 100));
    if (event === "listener.sessions") rejectSessions(this.#connection, { id, detail });
  }
}

async function goOffline(services: Services, device: DeviceName): Promise<void> {
  await services.store.setOnline(device, { online: false, now: services.clock.now() });
  await tellSessions(services, device);
}
