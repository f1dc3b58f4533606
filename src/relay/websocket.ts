/** A client's WebSocket: the upgrade, the budget and the handling of each frame, and the close. */
import type { TokenBuckets } from "../async/token_bucket.ts";
import { utf8Length } from "../async/encodings.ts";
import { CLOSE } from "../protocol/errors.ts";
import {
  type EventData,
  type EventName,
  type Frame,
  type FrameFault,
  parseFrame,
} from "../protocol/frames.ts";
import { BACKOFF_MAX_MS, KEY_FRAME_MAX_BYTES, SOCKETS_PER_KEY } from "../protocol/limits.ts";
import { KEY_FRAME } from "../protocol/pane_frame.ts";
import type { OpenSocket, SocketHandlers } from "../runtime/http_server.ts";
import { authenticate, checkSubprotocol, keyOfHandshake } from "./api_keys.ts";
import { takeAskerAck, withdrawnByAsker } from "./asks.ts";
import { frameKind, OVER_BUDGET } from "./budgets.ts";
import { Connection } from "./connection.ts";
import { countRequest, Refusal, type Services } from "./handler.ts";
import { greet } from "./hello.ts";
import { counter } from "./metrics.ts";
import { acknowledged, changeReceipt } from "./receipts.ts";
import { goOffline, rejectReport, takeReport } from "./sessions.ts";
import { STRAY_FRAMES } from "./streams.ts";

const UNKNOWN_EVENTS = counter(
  "svc_unknown_events_total",
  "Frames with an event that this relay does not know or expect.",
);
const MALFORMED = counter("svc_malformed_frames_total", "Malformed frames.");

export const SOCKET_PATH = "/ws";

/** Frames that a client may send before it is welcomed. */
const EARLY_FRAMES_MAX = 32;

/** Refuses the upgrade, or returns the function that receives the opened socket. */
export async function admit(services: Services, request: Request): Promise<OpenSocket> {
  if (new URL(request.url).pathname !== SOCKET_PATH) {
    throw new Refusal("not_found", `Cannot open a WebSocket here: its path is ${SOCKET_PATH}`);
  }
  const { store, hub, clock, metrics } = services;
  const key = await authenticate(store, { key: keyOfHandshake(request), scopes: ["push:read"] });
  checkSubprotocol(request);
  countRequest(services, key);
  if (hub.ofKey(key.id).length >= SOCKETS_PER_KEY) {
    metrics.of(OVER_BUDGET).add({ budget: "sockets" });
    throw new Refusal(
      "too_many_sockets",
      `Cannot open another WebSocket: this key has ${SOCKETS_PER_KEY}; close some, or use another key`,
      { headers: { "retry-after": String(BACKOFF_MAX_MS / 1_000) } },
    );
  }
  return (socket) => {
    const ofKey = (): Connection[] => hub.ofKey(key.id);
    const connection = new Connection({ key, socket, clock, metrics, ofKey });
    hub.add(connection);
    return new Client(services, connection);
  };
}

/** Handles frames in order; those that arrive while hello is being answered wait for the welcome. */
class Client implements SocketHandlers {
  readonly #services: Services;
  readonly #connection: Connection;
  #early: Frame[] | undefined;

  constructor(services: Services, connection: Connection) {
    this.#services = services;
    this.#connection = connection;
  }

  text(text: string): void {
    this.#guard(() => this.#takeText(text));
  }

  bytes(bytes: Uint8Array): void {
    this.#guard(() => this.#takeBytes(bytes));
  }

  alive(): void {
    this.#connection.markAlive();
  }

  unfinished(): void {
    this.#connection.checkUnfinished();
  }

  closed(code: number): void {
    const { hub, tasks, log, streams } = this.#services;
    const { greeted, claimed, account } = this.#connection;
    streams.endAllOf(this.#connection);
    const wasLast = hub.remove(this.#connection);
    if (greeted !== undefined) log(`${greeted.role} ${greeted.deviceId} disconnected (${code})`);
    if (wasLast && claimed !== undefined) tasks.run(goOffline(this.#services, { account, id: claimed }));
  }

  /** Closes the client after an error in `take`, which outside a task would end the relay. */
  #guard(take: () => void): void {
    try {
      take();
    } catch (error) {
      this.#services.tasks.run(Promise.reject(error));
      this.#connection.close(CLOSE.FAULT, "the relay failed at this frame: its log says why");
    }
  }

  #takeText(text: string): void {
    this.#connection.markAlive();
    if (!this.#connection.isOpen) return;
    const bytes = utf8Length(text);
    const { budgets } = this.#services;
    // Charged before parsing, because parsing is the cost of a long frame.
    if (!this.#spend("text_bytes", budgets.textBytes, bytes)) return;
    const frame = parseFrame(text);
    if (!this.#isTextWithinBudget(frame.event, bytes)) return;
    if ("fault" in frame) this.#reject(frame);
    else if (this.#connection.greeted !== undefined) this.#handle(frame);
    else if (this.#early !== undefined) this.#keepForLater(this.#early, frame);
    else this.#hello(frame);
  }

  #takeBytes(bytes: Uint8Array): void {
    const connection = this.#connection;
    connection.markAlive();
    if (connection.isOpen && this.#areBytesWithinBudget(bytes)) {
      this.#services.streams.bytes(connection, bytes);
    }
  }

  #isTextWithinBudget(event: EventName | undefined, bytes: number): boolean {
    const { budgets } = this.#services;
    const kind = frameKind(event);
    if (!this.#spend(kind, budgets.frames[kind])) return false;
    return event !== "listener.sessions" ||
      this.#spend("inventories", budgets.inventories) &&
        this.#spend("inventory_bytes", budgets.inventoryBytes, bytes);
  }

  #areBytesWithinBudget(bytes: Uint8Array): boolean {
    const { frames, keyBytes } = this.#services.budgets;
    if (this.#connection.greeted?.role === "listener") return this.#spend("pane", frames.pane);
    if (bytes[0] !== KEY_FRAME) return this.#spend("other", frames.other);
    if (bytes.length > KEY_FRAME_MAX_BYTES) {
      this.#connection.closeForFlood("key_frame_bytes");
      return false;
    }
    return this.#spend("keys", frames.keys) && this.#spend("key_bytes", keyBytes, bytes.length);
  }

  /** Takes from a budget of the key, or closes this socket when the key has used it up. */
  #spend(budget: string, buckets: TokenBuckets, amount = 1): boolean {
    const { key } = this.#connection;
    if (buckets.take(key.id, this.#services.clock.elapsed(), amount) === 0) return true;
    this.#connection.closeForFlood(budget);
    return false;
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
      connection.close(CLOSE.SERVICE_RESTART, "the store cannot be used: reconnect");
      throw error;
    }
    const { greeted } = connection;
    if (greeted === undefined) return;
    this.#services.log(
      `${greeted.role} ${greeted.deviceId} connected (v${data.version.replace(/[^\w.+-]/g, "?")})`,
    );
    // The frames of a client that was revoked meanwhile are ignored.
    for (const frame of this.#early ?? []) if (connection.isOpen) this.#handle(frame);
    this.#early = undefined;
  }

  #keepForLater(early: Frame[], frame: Frame): void {
    if (early.length < EARLY_FRAMES_MAX) early.push(frame);
    else this.#connection.close(CLOSE.POLICY, "too many frames before the welcome");
  }

  #reject({ fault, detail, event, id }: FrameFault): void {
    const { metrics } = this.#services;
    if (fault === "unknown_event") return metrics.of(UNKNOWN_EVENTS).add();
    metrics.of(MALFORMED).add();
    if (event === "hello") this.#connection.close(CLOSE.POLICY, detail.slice(0, 100));
    if (event === "listener.sessions") rejectReport(this.#connection, { id, detail });
  }
}

interface Received<F extends Frame = Frame> {
  connection: Connection;
  frame: F;
}

/** Handles a welcomed client's frame. Events that this role may not send to the relay are ignored and counted. */
function handleFrame(services: Services, { connection, frame }: Received): void {
  switch (frame.event) {
    case "ping":
      return connection.sendFrame("pong", {}, inReplyTo(frame));
    case "pong":
      return;
    case "push.ack":
      return services.tasks.run(takeAck(services, { connection, frame }));
    case "listener.sessions":
      return services.tasks.run(takeReport(services, { connection, frame }));
    case "pane.open":
    case "pane.opened":
    case "pane.closed":
    case "pane.credit":
    case "pane.scrollback":
      return handlePane(services, { connection, frame });
    case "hello":
    case "welcome":
    case "push.new":
    case "push.soon":
    case "push.updated":
    case "listener.stored":
    case "listener.rejected":
    case "sessions.changed":
      return services.metrics.of(UNKNOWN_EVENTS).add();
    default:
      frame satisfies never;
  }
}

/**
 * A listener's acknowledgement changes only its own pushes and questions; a script's, only its own questions and their
 * answers.
 */
async function takeAck(
  services: Services,
  { connection, frame }: Received<Extract<Frame, { event: "push.ack" }>>,
): Promise<void> {
  const { account, greeted, outbox } = connection;
  if (greeted?.role === "script") {
    const device = { account, id: greeted.deviceId };
    return await takeAskerAck(services, { device, ack: frame.data });
  }
  if (greeted?.role !== "listener") return services.metrics.of(UNKNOWN_EVENTS).add();
  const { id, ...ack }: EventData<"push.ack"> = frame.data;
  const now = services.clock.now();
  let isOwn = false;
  await changeReceipt(services, {
    push: { account, id },
    decide: (stored) => {
      isOwn = stored.target === greeted.deviceId;
      if (isOwn) return acknowledged(stored.receipt, ack, now);
      return ack.outcome === "withdrawn"
        ? withdrawnByAsker(stored, { id: greeted.deviceId, now })
        : undefined;
    },
  }).catch((error) => {
    outbox?.reload();
    throw error;
  });
  // Only after it is stored: an acknowledgement that the store lost is requested again.
  if (isOwn) services.claims.acknowledged({ account, id });
  outbox?.acknowledged(id);
  services.hub.fill(connection);
}

type PaneFrame = Extract<Frame, { event: `pane.${string}` }>;

/** Only a phone opens streams and grants credit; only a listener answers. */
function handlePane(services: Services, { connection, frame }: Received<PaneFrame>): void {
  const { streams, metrics, tasks } = services;
  const isListener = connection.greeted?.role === "listener";
  switch (frame.event) {
    case "pane.closed":
      return streams.closed(connection, frame.data);
    case "pane.opened":
      return isListener ? streams.opened(connection, frame.data) : metrics.of(STRAY_FRAMES).add();
    case "pane.open":
      return isListener ? metrics.of(STRAY_FRAMES).add() : tasks.run(streams.open(connection, frame.data));
    case "pane.credit":
    case "pane.scrollback":
      return isListener
        ? metrics.of(STRAY_FRAMES).add()
        : streams.forward(connection, frame.event, frame.data);
    default:
      frame satisfies never;
  }
}

function inReplyTo({ id }: Frame): { re?: string } {
  return id === undefined ? {} : { re: id };
}
