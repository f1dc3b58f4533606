/** One listener's unacknowledged pushes: sent in order, a window at a time, and resent until acknowledged. */
import { encodeFrame } from "../protocol/frames.ts";
import { PUSH_RESEND_MS } from "../protocol/limits.ts";
import type { PushName, StoredPush } from "../store/store.ts";

/** Pushes that may be unacknowledged at a time, and the size of their frames in bytes. The rest stay in the store. */
export const WINDOW_PUSHES = 512;
export const WINDOW_MAX_BYTES = 2_097_152;
/** The store is read once this many fit: reading a few per acknowledgement is slower than they arrive. */
export const REFILL_PUSHES = 64;

/** Pushes remembered as sent; as many again are remembered as cancelled. */
export const CLAIMS_MAX = 50_000;

/** Decides for each push which comes first, sending it to its listener or cancelling it. */
export class PushClaims {
  /** Up to this `seq` a push may have been sent without being remembered here, perhaps by an earlier run. */
  #sentUpTo: number;
  #newestSent = 0;
  readonly #sent = new Set<string>();
  readonly #withdrawn = new Set<string>();
  readonly #shared: boolean;

  /**
   * `sentUpTo`: the newest push of the store when the relay starts. `shared`: other nodes send pushes too, so the store
   * decides in place of this object.
   */
  constructor({ sentUpTo = 0, shared = false } = {}) {
    this.#shared = shared;
    this.#sentUpTo = sentUpTo;
  }

  /** Records the push as sent. False if it was cancelled: it must not be sent. */
  send(push: PushName & { seq: number }): boolean {
    const key = keyOf(push);
    if (this.#withdrawn.has(key)) return false;
    if (this.#shared) return true;
    this.#sent.add(key);
    this.#newestSent = Math.max(this.#newestSent, push.seq);
    if (this.#sent.size > CLAIMS_MAX) {
      this.#sent.clear();
      this.#sentUpTo = this.#newestSent;
    }
    return true;
  }

  /** False if the push may have been sent without being remembered here: only its listener can cancel it. */
  knows({ seq }: { seq: number }): boolean {
    return seq > this.#sentUpTo;
  }

  /** Records the push as cancelled. False if it was sent: only its listener can cancel it. */
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

  /** Undoes `withdraw`: the push was not cancelled after all. */
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
  claim(push: { id: string; seq: number }): boolean;
  /** The listener's pushes that are not final, in order, after `afterSeq`. */
  load(page: { afterSeq: number; limit: number }): Promise<StoredPush[]>;
  /** The cancellations among them, which are sent first: a message that they cancel may be next. */
  loadCancels(page: { afterSeq: number; limit: number }): Promise<StoredPush[]>;
  /** Monotonic milliseconds. */
  elapsed(): number;
}

export class Outbox {
  readonly #options: OutboxOptions;
  readonly #unacknowledged = new Map<string, { text: string; sentAt: number }>();
  #hasSentCancels = false;
  #lastCancelSeq = 0;
  /** The store may have pushes that were not sent on this connection. */
  #behind = true;
  #loading = false;
  #lastSeq = 0;
  /** Length of the frames in `#unacknowledged`, in UTF-16 units. */
  #length = 0;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#unacknowledged.size;
  }

  /** True when the store may have more pushes and the window has room for a page of them. */
  get wantsMore(): boolean {
    return !this.#loading && this.#mayLoad;
  }

  get #mayLoad(): boolean {
    return this.#behind && this.#hasRoomFor(REFILL_PUSHES);
  }

  #hasRoomFor(pushes: number): boolean {
    return this.#unacknowledged.size + pushes <= WINDOW_PUSHES && this.#length < WINDOW_MAX_BYTES;
  }

  /** Sends a push that was just stored, unless older ones are still in the store: then it is loaded after them. */
  offer(push: OutgoingPush): void {
    if (this.#hasRoomFor(1) && !this.#behind && !this.#loading) return this.#send(push);
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
      while (this.#mayLoad) await this.#fillOnce();
    } finally {
      this.#loading = false;
    }
  }

  acknowledged(id: string): void {
    this.#length -= this.#unacknowledged.get(id)?.text.length ?? 0;
    this.#unacknowledged.delete(id);
  }

  /**
   * Loads all pushes that are not final again, after an acknowledgement was lost: an earlier one may have removed its
   * push here.
   */
  reload(): void {
    this.#behind = true;
    this.#lastSeq = 0;
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

  /** A push that is accepted while the store is being read sets `#behind` again. */
  async #fillOnce(): Promise<void> {
    this.#behind = false;
    if (!this.#hasSentCancels) await this.#sendCancels();
    if (!this.#hasSentCancels || !this.#hasRoomFor(REFILL_PUSHES)) return void (this.#behind = true);
    const limit = REFILL_PUSHES;
    const page = await this.#read(() => this.#options.load({ afterSeq: this.#lastSeq, limit }));
    if (page.length === limit) this.#behind = true;
    for (const { push, seq } of page) this.#send({ id: push.id, seq, text: encodeFrame("push.new", push) });
  }

  async #sendCancels(): Promise<void> {
    while (!this.#hasSentCancels && this.#hasRoomFor(REFILL_PUSHES)) {
      const limit = REFILL_PUSHES;
      const from = { afterSeq: this.#lastCancelSeq, limit };
      const page = await this.#read(() => this.#options.loadCancels(from));
      for (const { push, seq } of page) {
        this.#lastCancelSeq = seq;
        this.#send({ id: push.id, seq: this.#lastSeq, text: encodeFrame("push.new", push) });
      }
      this.#hasSentCancels = page.length < limit;
    }
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
    // Also for a push that is not sent, so that the next page is not the same one.
    this.#lastSeq = Math.max(this.#lastSeq, seq);
    if (this.#unacknowledged.has(id) || !this.#options.claim({ id, seq })) return;
    this.#unacknowledged.set(id, { text, sentAt: this.#options.elapsed() });
    this.#length += text.length;
    this.#options.send(text);
  }
}
