/** Reports to the listener while a question waits for the person: the agent's screen shows work meanwhile. */
import type { Clock } from "../client/clock.ts";
import { ASK_REPORT_MS } from "../home/tell_daemon.ts";

export type ReportWaiting = (state: "waiting" | "working") => void;

export class WaitingReports {
  readonly #report: ReportWaiting;
  readonly #clock: Clock;
  #open = 0;
  #cancel: () => void = () => {};

  constructor(report: ReportWaiting, clock: Clock) {
    this.#report = report;
    this.#clock = clock;
  }

  /** Reports until the question has ended, again and again: a listener that starts anew knows nothing of it. */
  async during<T>(question: Promise<T>): Promise<T> {
    if (++this.#open === 1) this.#tick();
    try {
      return await question;
    } finally {
      if (--this.#open === 0) {
        this.#cancel();
        this.#report("working");
      }
    }
  }

  #tick(): void {
    this.#report("waiting");
    this.#cancel = this.#clock.after(ASK_REPORT_MS, () => this.#tick());
  }
}
