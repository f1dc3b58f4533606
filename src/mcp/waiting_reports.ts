/** Sends the reports of each question one after the other: the end of a wait must not arrive before its last report. */
import type { WaitingReport } from "./follow_question.ts";

export class WaitingReports {
  readonly #send: (report: WaitingReport) => Promise<void>;
  /** The last report that is being sent, by question. */
  readonly #sending = new Map<string, Promise<void>>();

  constructor(send: (report: WaitingReport) => Promise<void>) {
    this.#send = send;
  }

  /** Sends the report; one that is repeated anyway is dropped while another is being sent. Never throws. */
  take(report: WaitingReport): void {
    const before = this.#sending.get(report.ask);
    if (before !== undefined && report.state === "waiting") return;
    const sent = this.#after(before, report).finally(() => {
      if (this.#sending.get(report.ask) === sent) this.#sending.delete(report.ask);
    });
    this.#sending.set(report.ask, sent);
  }

  async #after(before: Promise<void> | undefined, report: WaitingReport): Promise<void> {
    await before;
    await this.#send(report).catch(() => {});
  }

  /** Resolves when every report was sent. */
  async idle(): Promise<void> {
    await Promise.all(this.#sending.values());
  }
}
