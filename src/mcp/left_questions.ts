/** Questions that nobody waits for any more: withdrawn ones, and ones whose late answers go to the session. */
import type { EventData } from "../protocol/frames.ts";

/** Beyond this number the oldest is forgotten. */
const LEFT_MAX = 100;

type SendAck = (ack: EventData<"push.ack">) => boolean;

export class LeftQuestions {
  readonly #send: SendAck;
  readonly #left = new Map<string, "late" | "withdrawn">();

  constructor(send: SendAck) {
    this.#send = send;
  }

  /** Number of withdrawals that the relay has not confirmed. */
  get withdrawing(): number {
    return [...this.#left.values()].filter((how) => how === "withdrawn").length;
  }

  /** Its answer may still come, and is typed into the session. */
  leave(id: string): void {
    this.#keep(id, "late");
  }

  /** It accepts no answer any more. */
  withdraw(id: string): void {
    this.#keep(id, "withdrawn");
    this.#send({ id, outcome: "withdrawn", final: true });
  }

  /** After a reconnect: repeats what was not confirmed. */
  connected(): void {
    for (const [id, how] of this.#left) {
      if (how === "withdrawn") this.#send({ id, outcome: "withdrawn", final: true });
    }
  }

  /** An answer that arrived just as the wait ended is returned at once, for the session. */
  updated({ id, receipt }: EventData<"push.updated">): void {
    if (!receipt.final || !this.#left.delete(id)) return;
    if (receipt.answer !== undefined) this.#send({ id: receipt.answer, outcome: "ignored", final: true });
  }

  #keep(id: string, how: "late" | "withdrawn"): void {
    this.#left.set(id, how);
    for (const oldest of this.#left.keys()) {
      if (this.#left.size <= LEFT_MAX) return;
      this.#left.delete(oldest);
    }
  }
}
