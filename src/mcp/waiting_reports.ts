/** Reports to the listener while questions wait for the person: the agent's screen shows work meanwhile. */
import type { Clock } from "../async/clock.ts";
import { ASK_REPORT_MS } from "../home/notify_daemon.ts";

export interface WaitingReport {
  state: "waiting" | "working";
  /** The same from the first report to the last. */
  ask: string;
}

export class WaitingReports {
  readonly #report: (report: WaitingReport) => void;
  readonly #clock: Clock;

  constructor(report: (report: WaitingReport) => void, clock: Clock) {
    this.#report = report;
    this.#clock = clock;
  }

  /**
   * Reports until the question has ended, again and again: a listener that starts anew knows nothing of it. Each question
   * is reported for itself: some agents leave one open and go on to the next.
   */
  async during<T>(question: Promise<T>): Promise<T> {
    const ask = crypto.randomUUID();
    let cancel = (): void => {};
    const tick = (): void => {
      this.#report({ state: "waiting", ask });
      cancel = this.#clock.after(ASK_REPORT_MS, tick);
    };
    tick();
    try {
      return await question;
    } finally {
      cancel();
      this.#report({ state: "working", ask });
    }
  }
}
