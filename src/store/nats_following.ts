/** Following a stream of NATS: each message in order, and the moment in which all that was there has been handled. */
import type { ConsumerMessages, JsMsg } from "@nats-io/jetstream";
import { delay, systemClock } from "../async/clock.ts";

/** How long a stored message may take to be handed to its followers; longer, and the consumer is replaced. */
const STALLED_MS = 1_000;
/** What followers need to know without the message's body. */
export const NOTE_HEADER = "Svc-Note";

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

interface FollowingOptions {
  filter: string;
  from: number;
  handler(note: Note): void;
  consume(from: number): Promise<Consuming>;
  /** What the leader has. */
  next(from: number): Promise<{ seq: number } | undefined>;
  last(): Promise<number>;
}

/** Follows a stream, and starts again when its consumer stands still: the server that it was on may be gone or stopped. */
export class Following {
  readonly #options: FollowingOptions;
  readonly #caughtUp = Promise.withResolvers<void>();
  #upTo: number;
  /** The stream's newest message when this began. */
  #target = Infinity;
  #messages: Consuming["messages"] | undefined;
  #cancel: () => void = () => undefined;
  readonly #end = new AbortController();

  constructor(options: FollowingOptions) {
    this.#options = options;
    this.#upTo = options.from - 1;
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
      this.#upTo = message.seq;
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

  /** Starts again when a message that was there at the last check has still not come. */
  async #check(): Promise<void> {
    const { consume, next } = this.#options;
    const upTo = this.#upTo;
    if (await next(upTo + 1) === undefined) return this.#caughtUp.resolve();
    await delay(STALLED_MS, { clock: systemClock, signal: this.#end.signal });
    if (this.#upTo !== upTo) return;
    const { messages } = await consume(upTo + 1);
    this.#messages?.stop();
    if (this.#end.signal.aborted) return messages.stop();
    this.#messages = messages;
    void this.#read(messages).catch(() => undefined);
  }
}

function noteOf(message: JsMsg): Note {
  const { subject, seq, info, headers: marks } = message;
  return { subject, seq, note: marks?.get(NOTE_HEADER) ?? "", pending: info.pending };
}
