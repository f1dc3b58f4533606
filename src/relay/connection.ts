/** One client's WebSocket as the hub holds it: who it is, when it was heard, and how much it has not read. */
import type { Clock } from "../async/clock.ts";
import type { Role } from "../protocol/frames.ts";
import { encodeFrame, type EventData, type EventName } from "../protocol/frames.ts";
import { CLOSE } from "../protocol/errors.ts";
import { PING_INTERVAL_MS, SILENCE_LIMIT_MS, UNREAD_PER_KEY_MAX_BYTES } from "../protocol/limits.ts";
import type { ServerSocket } from "../runtime/http_server.ts";
import type { KeyRecord } from "../store/store.ts";
import type { Outbox } from "./outbox.ts";

/** Unread bytes at which a client is closed: it starts again from the store. */
export const UNREAD_MAX_BYTES = 8_388_608;
/** Unread bytes that are none to speak of. */
const UNREAD_NOTICED_BYTES = 262_144;
/** Time for the first frame. */
export const HELLO_LIMIT_MS = 10_000;
/** Time for a client to answer a close. */
export const CLOSE_GRACE_MS = 3_000;

/** Who said hello. */
export interface Greeted {
  deviceId: string;
  role: Role;
  name: string;
}

export interface ConnectionOptions {
  id: string;
  key: KeyRecord;
  socket: ServerSocket;
  clock: Clock;
  /** Bytes that the sockets of its key have not read, together. */
  unreadOfKey(): number;
  /** The client was closed for not reading. */
  slow(): void;
  /** The client was closed for what it sent; `budget` names the limit. */
  flooded(budget: string): void;
}

export class Connection {
  readonly id: string;
  readonly key: KeyRecord;
  /** The device it says to be, once the key allows it. */
  claimed: string | undefined;
  /** Once it was welcomed. */
  greeted: Greeted | undefined;
  /** A listener's. */
  outbox: Outbox | undefined;
  readonly #options: ConnectionOptions;
  readonly #openedAt: number;
  #heardAt: number;
  #pingedAt: number;
  #closingAt: number | undefined;

  constructor(options: ConnectionOptions) {
    this.id = options.id;
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

  heard(): void {
    this.#heardAt = this.#options.clock.elapsed();
  }

  /** Bytes that the client has not read. */
  get unread(): number {
    return this.#options.socket.bufferedBytes();
  }

  /** Sends, or closes the client when it or all of its key leave too much unread. */
  send(data: string | Uint8Array): void {
    if (!this.isOpen) return;
    if (!this.#isBehind()) return this.#options.socket.send(data);
    this.close(CLOSE.SLOW, "read faster, then come back");
    this.#options.slow();
  }

  /** All sockets of the key are looked at only where this one is behind by more than a few frames. */
  #isBehind(): boolean {
    const { unread } = this;
    if (unread <= UNREAD_NOTICED_BYTES) return false;
    return unread > UNREAD_MAX_BYTES || this.#options.unreadOfKey() > UNREAD_PER_KEY_MAX_BYTES;
  }

  /** Closes the client for what it sent; what else is on its way is not read, and it is cut off after the grace. */
  flooded(budget: string): void {
    if (!this.isOpen) return;
    this.close(CLOSE.FLOOD, `over the budget for ${budget}: send less, then come back`);
    this.#options.socket.pause();
    this.#options.flooded(budget);
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

  /** What the passing of time asks for: a ping, or the end. Says so when the client was silent too long. */
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
