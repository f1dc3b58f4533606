/** Sends what is written over HTTP, in order, one at a time, for as long as it takes: a live link is no condition. */
import { RelayError } from "../client/relay_error.ts";
import { RELAY_BACKOFF } from "../client/backoff.ts";
import { retryDelayMs } from "../async/retry.ts";
import type { Clock } from "../async/clock.ts";
import type { PushAccepted } from "../protocol/push.ts";
import type { Message, SendFailure } from "./message.ts";

export interface OutboxOptions {
  /** The next message to send; undefined when there is none. */
  next(): Message | undefined;
  send(message: Message, options: { signal: AbortSignal }): Promise<PushAccepted>;
  onAccepted(accepted: PushAccepted): Promise<void>;
  /** The relay will never take this message as it is. */
  onFailed(id: string, failure: SendFailure): void;
  clock: Clock;
  random: () => number;
}

export class Outbox {
  readonly #options: OutboxOptions;
  #sending = false;
  #stopped = false;
  #attempt = new AbortController();
  #attempts = 0;
  #cancelRetry: () => void = () => {};

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Call it when a message was written. */
  async pump(): Promise<void> {
    if (this.#sending || this.#stopped) return;
    this.#sending = true;
    this.#cancelRetry();
    try {
      for (let message = this.#options.next(); message !== undefined; message = this.#options.next()) {
        if (!await this.#sendOne(message)) return;
      }
    } finally {
      this.#sending = false;
    }
  }

  /** Call it when the network is back: a try that hangs in the old one begins anew. The id makes that safe. */
  async hurry(): Promise<void> {
    this.#attempts = 0;
    this.#attempt.abort();
    await this.pump();
  }

  stop(): void {
    this.#stopped = true;
    this.#attempt.abort();
    this.#cancelRetry();
  }

  /** False when the rest has to wait. */
  async #sendOne(message: Message): Promise<boolean> {
    this.#attempt = new AbortController();
    const { signal } = this.#attempt;
    try {
      const accepted = await this.#options.send(message, { signal });
      this.#attempts = 0;
      await this.#options.onAccepted(accepted);
      return true;
    } catch (error) {
      if (signal.aborted) return !this.#stopped;
      if (!(error instanceof RelayError)) throw error;
      if (error.transient || error.code === "unauthenticated") return this.#retryLater(error);
      this.#options.onFailed(message.id, { code: error.code, message: error.message });
      return true;
    }
  }

  #retryLater(error: RelayError): false {
    const { random } = this.#options;
    const waitMs = retryDelayMs(error, { ...RELAY_BACKOFF, random, attempt: this.#attempts });
    if (error.retryAfterSeconds === undefined) this.#attempts++;
    this.#cancelRetry = this.#options.clock.after(waitMs, () => void this.pump());
    return false;
  }
}
