/** One client's WebSocket: its identity, its liveness, and how much it has not read. */
import type { Clock } from "../async/clock.ts";
import { Mutex } from "../async/mutex.ts";
import { CLOSE } from "../protocol/errors.ts";
import { encodeFrame, type EventData, type EventName, type Role } from "../protocol/frames.ts";
import {
  PING_INTERVAL_MS,
  SILENCE_LIMIT_MS,
  UNFINISHED_PER_KEY_MAX_BYTES,
  UNREAD_PER_KEY_MAX_BYTES,
} from "../protocol/limits.ts";
import type { ServerSocket } from "../runtime/http_server.ts";
import type { KeyRecord } from "../store/store.ts";
import { OVER_BUDGET } from "./budgets.ts";
import { counter, type RelayMetrics } from "./metrics.ts";
import type { Outbox } from "./outbox.ts";
import type { ReportedDetails, SessionEntry } from "../protocol/session.ts";

const SLOW = counter(
  "svc_slow_clients_total",
  "Clients closed because they did not read fast enough.",
);

/** Unread bytes at which a client is closed; it reconnects and starts again from the store. */
export const UNREAD_MAX_BYTES = 8_388_608;
/** Fewer unread bytes are not checked against the limits. */
const UNREAD_NOTICED_BYTES = 262_144;
/** How long a client may take to send hello. */
export const HELLO_LIMIT_MS = 10_000;
/** How long a client may take to answer a close. */
export const CLOSE_GRACE_MS = 3_000;

/** The client that a welcome was sent to. */
interface Greeted {
  deviceId: string;
  role: Role;
  name: string;
}

/** A report that waits for the one before it. */
export interface WaitingReport {
  sessions: readonly SessionEntry[];
  details: ReportedDetails | undefined;
  /** The frames in which the waiting reports arrived; each is answered. */
  frames: { id: string | undefined; count: number }[];
}

interface ConnectionOptions {
  key: KeyRecord;
  socket: ServerSocket;
  clock: Clock;
  metrics: RelayMetrics;
  /** All connections of its key. */
  ofKey(): readonly Connection[];
}

export class Connection {
  readonly id: string = crypto.randomUUID();
  readonly key: KeyRecord;
  /** The device named in hello, set once the key allows it. */
  claimed: string | undefined;
  /** Set once the client has been welcomed. */
  greeted: Greeted | undefined;
  /** Only a listener has one. */
  outbox: Outbox | undefined;
  /** A listener's newest report that the relay has tried to store; `at` is the clock's `elapsed`. */
  report: { digest: Uint8Array; at: number; isStored: boolean } | undefined;
  /** A listener's reports are stored one at a time. */
  readonly reports = new Mutex();
  /** The report that is stored next. */
  waiting: WaitingReport | undefined;
  /** Digest of this listener's sessions as last sent to phones since it connected. */
  publishedSessions: Uint8Array | undefined;
  readonly #options: ConnectionOptions;
  readonly #openedAt: number;
  #heardAt: number;
  #pingedAt: number;
  #closingAt: number | undefined;

  constructor(options: ConnectionOptions) {
    this.key = options.key;
    this.#options = options;
    this.#openedAt = this.#heardAt = this.#pingedAt = options.clock.elapsed();
  }

  get account(): string {
    return this.key.account;
  }

  get isOpen(): boolean {
    return this.#closingAt === undefined;
  }

  /** Call this when the client has sent something. */
  markAlive(): void {
    this.#heardAt = this.#options.clock.elapsed();
  }

  /** Bytes that the client has not read yet. */
  get unread(): number {
    return this.#options.socket.bufferedBytes();
  }

  /** Sends, or closes the client when it, or all clients of its key together, leave too much unread. */
  send(data: string | Uint8Array): void {
    if (!this.isOpen) return;
    if (!this.#isBehind()) return this.#options.socket.send(data);
    this.close(CLOSE.SLOW, "read faster, then reconnect");
    this.#options.metrics.of(SLOW).add();
  }

  /** Sums up the sockets of the key only when this one is more than a few frames behind. */
  #isBehind(): boolean {
    const { unread } = this;
    if (unread <= UNREAD_NOTICED_BYTES) return false;
    return unread > UNREAD_MAX_BYTES || this.#sumOfKey(({ unread }) => unread) > UNREAD_PER_KEY_MAX_BYTES;
  }

  #sumOfKey(bytesOf: (connection: Connection) => number): number {
    return this.#options.ofKey().reduce((bytes, one) => bytes + bytesOf(one), 0);
  }

  /** Bytes of a message that is not complete yet. */
  get unfinished(): number {
    return this.#options.socket.unfinishedBytes();
  }

  /** Closes the client when all clients of its key together have sent too many bytes of incomplete messages. */
  checkUnfinished(): void {
    if (this.#sumOfKey(({ unfinished }) => unfinished) > UNFINISHED_PER_KEY_MAX_BYTES) {
      this.closeForFlood("unfinished_bytes");
    }
  }

  /** Closes a client that exceeded a budget, and stops reading from it; it is terminated after the grace period. */
  closeForFlood(budget: string): void {
    if (!this.isOpen) return;
    this.close(CLOSE.FLOOD, `over the budget for ${budget}: send less, then reconnect`);
    this.#options.socket.pause();
    this.#options.metrics.of(OVER_BUDGET).add({ budget });
  }

  sendFrame<E extends EventName>(event: E, data: EventData<E>, ids: { id?: string; re?: string } = {}): void {
    this.send(encodeFrame(event, data, ids));
  }

  /** `reason` is at most 123 bytes (RFC 6455, section 5.5). */
  close(code: number, reason: string): void {
    if (!this.isOpen) return;
    this.#closingAt = this.#options.clock.elapsed();
    this.#options.socket.close(code, reason);
  }

  terminate(): void {
    this.#options.socket.terminate();
  }

  /** Pings, or closes a client that is silent or sends no hello. Returns "silent" when it closed a silent client. */
  tick(): "silent" | undefined {
    const now = this.#options.clock.elapsed();
    if (this.#closingAt !== undefined) {
      if (now - this.#closingAt >= CLOSE_GRACE_MS) this.terminate();
      return undefined;
    }
    if (now - this.#heardAt >= SILENCE_LIMIT_MS) {
      this.close(CLOSE.POLICY, "silent too long");
      this.terminate();
      return "silent";
    }
    if (this.greeted === undefined && now - this.#openedAt >= HELLO_LIMIT_MS) {
      this.close(CLOSE.POLICY, "hello must be the first frame");
      return undefined;
    }
    if (now - this.#pingedAt >= PING_INTERVAL_MS) {
      this.#pingedAt = now;
      this.#options.socket.ping();
    }
    return undefined;
  }
}

/** A phone's connection, to this node or to another. */
export type PhonePeer =
  & Pick<Connection, "id" | "account" | "greeted" | "unread" | "send" | "sendFrame" | "closeForFlood">
  & { key: Pick<KeyRecord, "id" | "scopes"> };
