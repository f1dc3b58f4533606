/** What one listener still has to acknowledge: sent in order, a window at a time, and again until acknowledged. */
import { encodeFrame } from "../protocol/frames.ts";
import { PUSH_RESEND_MS } from "../protocol/limits.ts";
import type { StoredPush } from "../store/store.ts";

/** Pushes sent to a listener that it has not acknowledged. The rest waits in the store. */
export const WINDOW_PUSHES = 64;

/** A push as it goes out. */
export interface OutgoingPush {
  id: string;
  seq: number;
  /** The whole frame. */
  text: string;
}

export interface OutboxOptions {
  send(text: string): void;
  /** The listener's pushes that are not final, in order, after `afterSeq`. */
  load(page: { afterSeq: number; limit: number }): Promise<StoredPush[]>;
  /** Milliseconds that never go back. */
  elapsed(): number;
}

export class Outbox {
  readonly #options: OutboxOptions;
  readonly #unacknowledged = new Map<string, { text: string; sentAt: number }>();
  /** The store may hold pushes that were not sent on this connection. */
  #behind = true;
  #loading = false;
  #lastSeq = 0;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#unacknowledged.size;
  }

  /** The store may have more, and there is room for it. */
  get wantsMore(): boolean {
    return this.#behind && !this.#loading && this.#unacknowledged.size < WINDOW_PUSHES;
  }

  /** A push that was just accepted. With older ones still in the store it waits its turn there. */
  offer(push: OutgoingPush): void {
    const room = this.#unacknowledged.size < WINDOW_PUSHES;
    if (room && !this.#behind && !this.#loading) return this.#send(push);
    this.#behind = true;
    this.#lastSeq = Math.min(this.#lastSeq, push.seq - 1);
  }

  /** Sends what the store still has and the window takes. Rejects when the store does: call again later. */
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

  /** Sends again what waits too long for its acknowledgement; returns how many. */
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

  /** What is accepted during the wait for the store sets `#behind` again. */
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
