/** What the relay's handlers work with; server.ts creates it. */
import type { Clock } from "../async/clock.ts";
import type { Mutex } from "../async/mutex.ts";
import type { Bus } from "../bus/bus.ts";
import type { Store } from "../store/store.ts";
import type { Admission } from "./admission.ts";
import type { Budgets } from "./budgets.ts";
import type { ClaimAnswers } from "./claim_answers.ts";
import type { Hub } from "./hub.ts";
import type { RelayMetrics } from "./metrics.ts";
import type { PushClaims } from "./outbox.ts";
import type { RemotePhones } from "./remote_phones.ts";
import type { Streams } from "./streams.ts";
import type { WebPush } from "./web_push.ts";

export interface Services {
  store: Store;
  bus: Bus;
  hub: Hub;
  streams: Streams;
  /** Mirrors between this node and others. */
  remote: RemotePhones;
  webPush: WebPush;
  metrics: RelayMetrics;
  clock: Clock;
  budgets: Budgets;
  admission: Admission;
  /** Which pushes were sent to their listener, or cancelled before. */
  claims: PushClaims;
  /** What claims of pairing codes were answered. */
  claimAnswers: ClaimAnswers;
  /** Answers with much data are made one at a time. */
  pageReads: Mutex;
  /** Work that continues after its caller has been answered. */
  tasks: Tasks;
  /** Where others reach this relay, when that is known. */
  publicUrl?: string | undefined;
  /** Writes one line; never a key, a body or a frame. */
  log(line: string): void;
}

/** Background work: its failures are reported, and a stop waits for it. */
export class Tasks {
  readonly #running = new Set<Promise<void>>();
  readonly #failed: (error: unknown) => void;

  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

  run(work: Promise<void>): void {
    const task = work.catch(this.#failed).finally(() => this.#running.delete(task));
    this.#running.add(task);
  }

  /** Resolves when nothing is running. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
