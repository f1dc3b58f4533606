/** Sends what is written, in order, one at a time, as long as there is a link; the phone keeps it until then. */
import { RelayError } from "../client/relay_error.ts";
import { backoffDelayMs } from "../client/backoff.ts";
import type { Clock } from "../client/clock.ts";
import type { PushAccepted } from "../protocol/push.ts";
import type { Message, SendFailure } from "./message.ts";

export interface OutboxOptions {
  /** The next message to send; undefined when there is none, or no link. */
  next(): Message | undefined;
  send(message: Message): Promise<PushAccepted>;
  onAccepted(accepted: PushAccepted): Promise<void>;
  /** The relay will never take this message as it is. */
  onFailed(id: string, failure: SendFailure): void;
  clock: Clock;
  random: () => number;
}

export class Outbox {
  readonly #options: OutboxOptions;
  #sending = false;
  #attempts = 0;
  #cancelRetry: () => void = () => {};

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Call it when a message was written, and when the link came back. */
  async pump(): Promise<void> {
    if (this.#sending) return;
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

  stop(): void {
    this.#cancelRetry();
  }

  /** False when the rest has to wait. */
  async #sendOne(message: Message): Promise<boolean> {
    try {
      const accepted = await this.#options.send(message);
      this.#attempts = 0;
      await this.#options.onAccepted(accepted);
      return true;
    } catch (error) {
      if (!(error instanceof RelayError)) throw error;
      if (error.transient || error.code === "unauthenticated") return this.#retryLater(error);
      this.#options.onFailed(message.id, { code: error.code, message: error.message });
      return true;
    }
  }

  #retryLater({ retryAfterSeconds }: RelayError): false {
    const waitMs = retryAfterSeconds === undefined
      ? backoffDelayMs(this.#attempts++, this.#options.random())
      : retryAfterSeconds * 1_000;
    this.#cancelRetry = this.#options.clock.after(waitMs, () => void this.pump());
    return false;
  }
}
