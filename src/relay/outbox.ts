/** One listener's unacknowledged pushes: sent in order, a window at a time, and resent until acknowledged. */
import { encodeFrame } from "../protocol/frames.ts";
import { PUSH_RESEND_MS } from "../protocol/limits.ts";
import type { StoredPush } from "../store/store.ts";

/** Pushes that may be unacknowledged at a time. The rest stay in the store. */
export const WINDOW_PUSHES = 64;

interface OutgoingPush {
  id: string;
  seq: number;
  /** The encoded frame. */
  text: string;
}

export interface OutboxOptions {
  send(text: string): void;
  /** The listener's pushes that are not final, in order, after `afterSeq`. */
  load(page: { afterSeq: number; limit: number }): Promise<StoredPush[]>;
  /** Monotonic milliseconds. */
  elapsed(): number;
}

export class Outbox {
  readonly #options: OutboxOptions;
  readonly #unacknowledged = new Map<string, { text: string; sentAt: number }>();
  /** The store may have pushes that were not sent on this connection. */
  #behind = true;
  #loading = false;
  #lastSeq = 0;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#unacknowledged.size;
  }

  /** True when the store may have more pushes and the window has room. */
  get wantsMore(): boolean {
    return this.#behind && !this.#loading && this.#unacknowledged.size < WINDOW_PUSHES;
  }

  /** Sends a push that was just stored, unless older ones are still in the store: then it is loaded after them. */
  offer(push: OutgoingPush): void {
    const room = this.#unacknowledged.size < WINDOW_PUSHES;
    if (room && !this.#behind && !this.#loading) return this.#send(push);
    this.#behind = true;
    this.#lastSeq = Math.min(this.#lastSeq, push.seq - 1);
  }

  /** Sends stored pushes until the window is full. Rejects when the store does; call again later. */
  async fill(): Promise<void> {
    if (!this.wantsMore) return;
    this.#loading = true;
    try {
      while (this.#behind && this.#unacknowledged.size < WINDOW_PUSHES) await this.#fillOnce();
    } finally {
      this.#loading = false;
    }
  }

  acknowledged(id: string): void {
    this.#unacknowledged.delete(id);
  }

  /** Resends pushes that were not acknowledged in time; returns how many. */
  resendDue(): number {
    const now = this.#options.elapsed();
    let resent = 0;
    for (const entry of this.#unacknowledged.values()) {
      if (now - entry.sentAt < PUSH_RESEND_MS) continue;
      entry.sentAt = now;
      this.#options.send(entry.text);
      resent += 1;
    }
    return resent;
  }

  /** A push accepted while the store is read sets `#behind` again. */
  async #fillOnce(): Promise<void> {
    this.#behind = false;
    const limit = WINDOW_PUSHES - this.#unacknowledged.size;
    const page = await this.#load(limit);
    if (page.length === limit) this.#behind = true;
    for (const { push, seq } of page) this.#send({ id: push.id, seq, text: encodeFrame("push.new", push) });
  }

  async #load(limit: number): Promise<StoredPush[]> {
    try {
      return await this.#options.load({ afterSeq: this.#lastSeq, limit });
    } catch (error) {
      this.#behind = true;
      throw error;
    }
  }

  #send({ id, seq, text }: OutgoingPush): void {
    if (this.#unacknowledged.has(id)) return;
    this.#lastSeq = Math.max(this.#lastSeq, seq);
    this.#unacknowledged.set(id, { text, sentAt: this.#options.elapsed() });
    this.#options.send(text);
  }
}
