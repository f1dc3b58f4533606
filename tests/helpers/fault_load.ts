/** Sends messages one after the other to each of many sessions, as phones' outboxes do, and reads their receipts. */
import type { RelayApi } from "../../src/client/api.ts";
import { RelayError } from "../../src/client/relay_error.ts";
import type { Receipt } from "../../src/protocol/receipt.ts";
import { outcomeOf } from "./outcome_of.ts";
import { until } from "./until.ts";

/** A message that the relay has accepted. */
export interface Message {
  id: string;
  session: string;
  n: number;
  body: string;
  /** Undefined without a final receipt. */
  state?: "submitted" | "typed" | "refused" | "unknown" | undefined;
  /** State and reason of the final receipt, as one text. */
  outcome?: string;
}

export interface LoadOptions {
  /** Used for sending. */
  api: RelayApi;
  /** Used for reading receipts. */
  reader: RelayApi;
  deviceId: string;
  sessions: readonly string[];
  /** How many messages each session gets. */
  messages: number;
  bodyOf(session: string, n: number): string;
}

/** A request without an answer after this time is repeated with the same id. */
const ANSWER_MS = 4_000;

/** Longer than a client's longest wait before it reconnects. */
const PROGRESS_LIMIT_MS = 60_000;
/** How many receipts are read at a time. */
const READ_MAX = 20;

export class FaultLoad {
  /** In the order in which they were accepted. */
  readonly messages: Message[] = [];
  readonly #options: LoadOptions;
  readonly #byId = new Map<string, Message>();
  readonly #sending: Promise<unknown>;
  #ended = 0;
  #hasSent = false;
  #isSettled = false;
  #reading: Promise<void> | undefined;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#sending = Promise.all(options.sessions.map((session) => this.#send(session)))
      .finally(() => this.#hasSent = true);
  }

  /** True if every message has its final receipt. */
  get isDone(): boolean {
    return this.#isSettled || (this.#hasSent && this.#ended === this.messages.length);
  }

  /** Resolves once this many more messages have ended, none is left, the time is over, or `unless` is true. */
  async progress(
    count: number,
    { orAfterMs = PROGRESS_LIMIT_MS, unless = (): boolean => false } = {},
  ): Promise<void> {
    const from = this.#ended;
    const end = performance.now() + orAfterMs;
    await until("messages that end", async () => {
      if (this.isDone || this.#ended >= from + count || performance.now() >= end || unless()) return true;
      await this.#readReceipts();
      return false;
    });
  }

  /** Resolves once everything was sent and has ended, or at the limit. */
  async settle(limitMs: number): Promise<void> {
    try {
      await this.#sending;
      await until("a final receipt of every message", async () => {
        await this.#readReceipts();
        return this.isDone;
      }, limitMs).catch(() => undefined);
    } finally {
      this.#isSettled = true;
    }
  }

  /** Stops sending, because the fault could not be injected. */
  async abandon(): Promise<void> {
    this.#isSettled = true;
    await this.#sending;
  }

  /** Returns the number of messages by outcome. */
  outcomes(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { outcome = "no receipt" } of this.messages) counts[outcome] = (counts[outcome] ?? 0) + 1;
    return counts;
  }

  async #send(session: string): Promise<void> {
    const { api, messages, bodyOf, deviceId } = this.#options;
    for (let n = 0; n < messages; n++) {
      const body = bodyOf(session, n);
      const id = crypto.randomUUID();
      const push = { id, type: "agent.command", targetDeviceId: deviceId, agentSessionName: session, body };
      const message: Message = { id, session, n, body };
      this.#byId.set(id, message);
      await until(`message ${n} of ${session} is accepted`, async () => {
        if (this.#isSettled) return true;
        try {
          return await api.sendPush(push, { signal: AbortSignal.timeout(ANSWER_MS) });
        } catch (error) {
          if (error instanceof RelayError && !error.transient && error.status < 500) throw error;
          return undefined;
        }
      });
      this.messages.push(message);
    }
  }

  async receiptOf(id: string): Promise<Receipt> {
    return (await this.#options.reader.getPush(id, { signal: AbortSignal.timeout(ANSWER_MS) })).receipt;
  }

  /** Reads the receipts of the oldest messages without one; concurrent calls share one read. */
  async #readReceipts(): Promise<void> {
    this.#reading ??= this.#read().finally(() => this.#reading = undefined);
    await this.#reading;
  }

  async #read(): Promise<void> {
    for (const { id } of this.messages.filter(({ state }) => state === undefined).slice(0, READ_MAX)) {
      const receipt = await this.receiptOf(id).catch(() => undefined);
      if (receipt === undefined) return;
      this.#take(id, receipt);
    }
  }

  #take(id: string, receipt: Receipt): void {
    const message = this.#byId.get(id);
    if (message === undefined || message.state !== undefined || !receipt.final) return;
    endMessage(message, receipt);
    this.#ended++;
  }
}

/** Records a final receipt. */
export function endMessage(message: Message, receipt: Receipt): void {
  message.outcome = outcomeOf(receipt);
  message.state = receipt.final ? STATES[receipt.state] ?? "refused" : undefined;
}

const STATES: Partial<Record<Receipt["state"], Message["state"]>> = {
  submitted: "submitted",
  typed: "typed",
  unknown: "unknown",
};
