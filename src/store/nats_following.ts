/** Following a stream of NATS: each message in order, and the moment in which all that was there has been handled. */
import type { ConsumerMessages, JsMsg } from "@nats-io/jetstream";
import { delay, systemClock } from "../async/clock.ts";

/** How long a stored message may take to be handed to its followers; longer, and the consumer is replaced. */
const STALLED_MS = 1_000;
/** What followers need to know without the message's body. */
export const NOTE_HEADER = "Svc-Note";

export interface FollowFrom {
  filter: string;
  from: number;
  /** Called after a loss of the newest messages, before the handler is called again for all that there are. */
  lost?(): void;
}

export interface Followed {
  caughtUp: Promise<void>;
  stop(): void;
}

/** What a follower gets of each message. `pending`: messages that wait behind it. */
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
  /** What the leader has. */
  next(from: number): Promise<{ seq: number } | undefined>;
  last(): Promise<number>;
  /** Differs once the connection was made again: the server may have been restarted. */
  session(): string;
  /** When NATS stored the message; undefined when it is gone. Epoch milliseconds. */
  storedAt(seq: number): Promise<number | undefined>;
  /** How long the stream may be behind what was handled, before the rest of that counts as lost. */
  lossAfterMs: number;
}

/** A message that was handled. */
interface Handled {
  seq: number;
  /** When NATS stored it, epoch milliseconds: tells it from another one that has got its sequence. */
  storedAt: number;
  /** Since when the stream has been behind it; monotonic milliseconds. */
  behindSince?: number;
}

/** Follows a stream, and starts again when its consumer stands still: the server that it was on may be gone or stopped. */
export class Following {
  readonly #options: FollowingOptions;
  readonly #caughtUp = Promise.withResolvers<void>();
  #upTo: number;
  #newest: Handled | undefined;
  /** What was the newest when the stream was behind it, or the connection was made again. */
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

  /** Resolves also when the following is stopped. */
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
    // One that ends is noticed by its silence.
    void this.#read(messages).catch(() => undefined);
    this.#watch();
  }

  stop(): void {
    this.#end.abort();
    this.#cancel();
    this.#messages?.stop();
    this.#caughtUp.resolve();
  }

  /** Nothing waits at the consumer's server: whether that is all, the leader knows. A failure is made up for by `#check`. */
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

  /** Starts again when a message that was there at the last check has still not come, and over when some were lost. */
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
   * Whether NATS goes on without what was handled: it was restored, or its servers lost power. A former leader is behind,
   * too, for a while.
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
    // One that is gone was replaced; where the stream was behind it, perhaps by way of another one with its sequence.
    return found === undefined ? doubted.behindSince !== undefined : found !== doubted.storedAt;
  }

  #noteSession(): void {
    const session = this.#options.session();
    if (session !== this.#session) this.#doubted ??= this.#newest;
    this.#session = session;
  }
}

function noteOf(message: JsMsg): Note {
  const { subject, seq, info, headers: marks } = message;
  return { subject, seq, note: marks?.get(NOTE_HEADER) ?? "", pending: info.pending };
}
