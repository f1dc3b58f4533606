/** One listener's unacknowledged pushes: sent in order, a window at a time, and resent until acknowledged. */
import { encodeFrame } from "../protocol/frames.ts";
import { PUSH_RESEND_MS } from "../protocol/limits.ts";
import type { PushName, StoredPush } from "../store/store.ts";

/** Pushes that may be unacknowledged at a time. The rest stay in the store. */
export const WINDOW_PUSHES = 64;

/** Pushes remembered as sent or cancelled, each. */
export const CLAIMS_MAX = 50_000;

/** Decides for each push which comes first: that it is sent to its listener, or that it is cancelled. */
export class PushClaims {
  /** A push stored earlier may have been sent by another run of the relay; epoch milliseconds. */
  since: number;
  readonly #now: () => number;
  readonly #sent = new Set<string>();
  readonly #withdrawn = new Set<string>();
  readonly #shared: boolean;

  /** `shared`: other nodes send too, so that only a push's listener can cancel it. */
  constructor(now: () => number, { shared = false } = {}) {
    this.#now = now;
    this.#shared = shared;
    this.since = shared ? Number.MAX_SAFE_INTEGER : now();
  }

  /** False if it was cancelled: it must not be sent. */
  send(push: PushName): boolean {
    const key = keyOf(push);
    if (this.#withdrawn.has(key)) return false;
    if (this.#shared) return true;
    this.#sent.add(key);
    if (this.#sent.size > CLAIMS_MAX) {
      this.#sent.clear();
      this.since = this.#now() + 1;
    }
    return true;
  }

  /** False if it may have been sent: only its listener can cancel it. */
  withdraw(push: PushName): boolean {
    const key = keyOf(push);
    if (this.#sent.has(key)) return false;
    this.#withdrawn.add(key);
    for (const oldest of this.#withdrawn) {
      if (this.#withdrawn.size <= CLAIMS_MAX) break;
      this.#withdrawn.delete(oldest);
    }
    return true;
  }

  /** It was not cancelled after all. */
  release(push: PushName): void {
    this.#withdrawn.delete(keyOf(push));
  }

  /** The listener has it, as its receipt shows. */
  acknowledged(push: PushName): void {
    this.#sent.delete(keyOf(push));
  }
}

function keyOf({ account, id }: PushName): string {
  return `${account} ${id}`;
}

interface OutgoingPush {
  id: string;
  seq: number;
  /** The encoded frame. */
  text: string;
}

export interface OutboxOptions {
  send(text: string): void;
  /** False if the push was cancelled: it is not sent. */
  claim(id: string): boolean;
  /** The listener's pushes that are not final, in order, after `afterSeq`. */
  load(page: { afterSeq: number; limit: number }): Promise<StoredPush[]>;
  /** The cancellations among them, which are sent first: a message that they cancel may be next. */
  loadCancels(): Promise<StoredPush[]>;
  /** Monotonic milliseconds. */
  elapsed(): number;
}

export class Outbox {
  readonly #options: OutboxOptions;
  readonly #unacknowledged = new Map<string, { text: string; sentAt: number }>();
  #hasSentCancels = false;
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
    this.arrived(push.seq);
  }

  /** A push was stored, here or by another node: it is loaded in its turn. */
  arrived(seq: number): void {
    this.#behind = true;
    this.#lastSeq = Math.min(this.#lastSeq, seq - 1);
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
    if (!this.#hasSentCancels) await this.#sendCancels();
    const limit = WINDOW_PUSHES - this.#unacknowledged.size;
    const page = await this.#read(() => this.#options.load({ afterSeq: this.#lastSeq, limit }));
    if (page.length === limit) this.#behind = true;
    for (const { push, seq } of page) this.#send({ id: push.id, seq, text: encodeFrame("push.new", push) });
  }

  async #sendCancels(): Promise<void> {
    for (const { push } of await this.#read(() => this.#options.loadCancels())) {
      this.#send({ id: push.id, seq: this.#lastSeq, text: encodeFrame("push.new", push) });
    }
    this.#hasSentCancels = true;
  }

  async #read(load: () => Promise<StoredPush[]>): Promise<StoredPush[]> {
    try {
      return await load();
    } catch (error) {
      this.#behind = true;
      throw error;
    }
  }

  #send({ id, seq, text }: OutgoingPush): void {
    // Also past what is not sent here: the next page must not be the same one.
    this.#lastSeq = Math.max(this.#lastSeq, seq);
    if (this.#unacknowledged.has(id) || !this.#options.claim(id)) return;
    this.#unacknowledged.set(id, { text, sentAt: this.#options.elapsed() });
    this.#options.send(text);
  }
}
