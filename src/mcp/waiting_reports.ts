/** Reports to the listener while questions wait for the person: the agent's screen shows work meanwhile. */
import type { Clock } from "../client/clock.ts";
import { ASK_REPORT_MS } from "../home/tell_daemon.ts";

export interface WaitingReport {
  state: "waiting" | "working";
  /** The same from the first report to the last. */
  ask: string;
}

export class WaitingReports {
  readonly #report: (report: WaitingReport) => void;
  readonly #clock: Clock;
  #open = 0;
  #ask = "";
  #cancel: () => void = () => {};

  constructor(report: (report: WaitingReport) => void, clock: Clock) {
    this.#report = report;
    this.#clock = clock;
  }

  /** Reports until the question has ended, again and again: a listener that starts anew knows nothing of it. */
  async during<T>(question: Promise<T>): Promise<T> {
    // One that comes while another waits is another one: the agent may have left the first.
    this.#open++;
    this.#cancel();
    this.#ask = crypto.randomUUID();
    this.#tick();
    try {
      return await question;
    } finally {
      if (--this.#open === 0) {
        this.#cancel();
        this.#report({ state: "working", ask: this.#ask });
      }
    }
  }

  #tick(): void {
    this.#report({ state: "waiting", ask: this.#ask });
    this.#cancel = this.#clock.after(ASK_REPORT_MS, () => this.#tick());
  }
}
