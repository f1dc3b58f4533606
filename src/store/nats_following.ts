/** Follows a stream of NATS: passes on each message in order, and resolves when all that were stored at its start have been handled. */
import type { ConsumerMessages, JsMsg } from "@nats-io/jetstream";
import { delay, systemClock } from "../async/clock.ts";

/** How long a stored message may take to reach its followers before the consumer is replaced. */
const STALLED_MS = 1_000;
/** What followers need to know without the message's body. */
export const NOTE_HEADER = "Svc-Note";

export interface FollowFrom {
  filter: string;
  from: number;
  /** Called after a loss of the newest messages, before the handler is called again for all messages. */
  lost?(): void;
}

export interface Followed {
  caughtUp: Promise<void>;
  stop(): void;
}

/** What a follower receives of each message. `pending` is the number of messages that wait behind it. */
export interface Note {
  subject: string;
  seq: number;
  note: string;
  pending: number;
}

export interface Consuming {
  messages: Pick<ConsumerMessages, "stop"> & AsyncIterable<JsMsg>;
  pending: number;
}

interface FollowingOptions extends FollowFrom {
  handler(note: Note): void;
  consume(from: number): Promise<Consuming>;
  /** The leader's first message from this sequence on. */
  next(from: number): Promise<{ seq: number } | undefined>;
  last(): Promise<number>;
  /** Differs after a reconnection: the server may have been restarted. */
  session(): string;
  /** When NATS stored the message; undefined when it is gone. Epoch milliseconds. */
  storedAt(seq: number): Promise<number | undefined>;
  /** How long the stream may be behind what was handled, before the messages that it lacks are treated as lost. */
  lossAfterMs: number;
}

/** A message that was handled. */
interface Handled {
  seq: number;
  /** When NATS stored it, in epoch milliseconds: distinguishes it from another message that got its sequence. */
  storedAt: number;
  /** Since when the stream has been behind it; monotonic milliseconds. */
  behindSince?: number;
}

/** Follows a stream, and replaces its consumer when that stalls: the consumer's server may be gone or stopped. */
export class Following {
  readonly #options: FollowingOptions;
  readonly #caughtUp = Promise.withResolvers<void>();
  #upTo: number;
  #newest: Handled | undefined;
  /** The newest handled message at the time when the stream was behind it, or the connection was made again. */
  #doubted: Handled | undefined;
  #session: string;
  /** The stream's newest message when this began. */
  #target = Infinity;
  #messages: Consuming["messages"] | undefined;
  #cancel: () => void = () => undefined;
  readonly #end = new AbortController();

  constructor(options: FollowingOptions) {
    this.#options = options;
    this.#upTo = options.from - 1;
    this.#session = options.session();
  }

  /** Resolves when all messages that were stored at the start have been handled, or when the following is stopped. */
  get caughtUp(): Promise<void> {
    return this.#caughtUp.promise;
  }

  async start(): Promise<void> {
    const { consume, last } = this.#options;
    this.#target = await last();
    const { messages, pending } = await consume(this.#upTo + 1);
    if (this.#end.signal.aborted) return messages.stop();
    this.#messages = messages;
    if (pending === 0) void this.#confirm().catch(() => undefined);
    // A consumer that ends is noticed because it delivers nothing.
    void this.#read(messages).catch(() => undefined);
    this.#watch();
  }

  stop(): void {
    this.#end.abort();
    this.#cancel();
    this.#messages?.stop();
    this.#caughtUp.resolve();
  }

  /** Asks the leader for more when nothing waits at the consumer's server. `#check` makes up for a failure. */
  async #confirm(): Promise<void> {
    const next = await this.#options.next(this.#upTo + 1);
    if (next === undefined || next.seq > this.#target) this.#caughtUp.resolve();
  }

  async #read(messages: Consuming["messages"]): Promise<void> {
    for await (const message of messages) {
      if (messages !== this.#messages || message.seq <= this.#upTo) continue;
      this.#noteSession();
      this.#upTo = message.seq;
      this.#newest = { seq: message.seq, storedAt: message.time.getTime() };
      this.#options.handler(noteOf(message));
      if (message.seq >= this.#target) this.#caughtUp.resolve();
      else if (message.info.pending === 0) void this.#confirm().catch(() => undefined);
    }
  }

  #watch(): void {
    this.#cancel = systemClock.after(STALLED_MS, () => {
      void this.#check().catch(() => undefined).finally(() => {
        if (!this.#end.signal.aborted) this.#watch();
      });
    });
  }

  /**
   * Replaces the consumer when a stored message has not arrived in time, and starts from the beginning when messages
   * were lost.
   */
  async #check(): Promise<void> {
    const { next, lost } = this.#options;
    if (await this.#hasLost()) {
      this.#upTo = 0;
      this.#newest = this.#doubted = undefined;
      lost?.();
      return await this.#replace();
    }
    const upTo = this.#upTo;
    if (await next(upTo + 1) === undefined) return this.#caughtUp.resolve();
    await delay(STALLED_MS, { clock: systemClock, signal: this.#end.signal });
    if (this.#upTo === upTo) await this.#replace();
  }

  async #replace(): Promise<void> {
    const { messages } = await this.#options.consume(this.#upTo + 1);
    this.#messages?.stop();
    if (this.#end.signal.aborted) return messages.stop();
    this.#messages = messages;
    void this.#read(messages).catch(() => undefined);
  }

  /**
   * True if NATS no longer has what was handled: it was restored, or its servers lost power. A former leader is also
   * behind for a while.
   */
  async #hasLost(): Promise<boolean> {
    const { last, storedAt, lossAfterMs } = this.#options;
    const newest = this.#newest;
    if (newest === undefined) return false;
    const isBehind = await last() < (this.#doubted ?? newest).seq;
    this.#noteSession();
    if (isBehind) this.#doubted ??= newest;
    const doubted = this.#doubted;
    if (doubted === undefined) return false;
    if (isBehind) {
      doubted.behindSince ??= systemClock.elapsed();
      return systemClock.elapsed() - doubted.behindSince >= lossAfterMs;
    }
    const found = await storedAt(doubted.seq);
    this.#doubted = undefined;
    // A message that is gone was replaced by a newer one; if the stream was behind it, another may have had its sequence.
    return found === undefined ? doubted.behindSince !== undefined : found !== doubted.storedAt;
  }

  #noteSession(): void {
    const session = this.#options.session();
    if (session !== this.#session) this.#doubted ??= this.#newest;
    this.#session = session;
  }
}

function noteOf(message: JsMsg): Note {
  const { subject, seq, info, headers } = message;
  return { subject, seq, note: headers?.get(NOTE_HEADER) ?? "", pending: info.pending };
}
