/** What the relay's handlers work with, bound once in server.ts. */
import { afterReads } from "../runtime/sqlite.ts";
import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../async/clock.ts";
import type { Store } from "../store/store.ts";
import type { Hub } from "./hub.ts";
import type { RelayMetrics } from "./metrics.ts";
import type { Budgets } from "./budgets.ts";
import { Mutex } from "../async/mutex.ts";
import type { TokenBuckets } from "../async/token_bucket.ts";
import type { Streams } from "./streams.ts";
import type { Tasks } from "./tasks.ts";

export interface Services {
  store: Store;
  bus: Bus;
  hub: Hub;
  streams: Streams;
  metrics: RelayMetrics;
  clock: Clock;
  /** Requests and handshakes, by key. */
  requests: TokenBuckets;
  /** Claims of pairing codes, by address. */
  claims: TokenBuckets;
  budgets: Budgets;
  pages: PageTurns;
  /** What goes on after its caller got an answer. */
  tasks: Tasks;
  /** Where others reach this relay, when that is known. */
  publicUrl?: string | undefined;
  /** One line; never a key, a body or a frame. */
  log(line: string): void;
}

/** Pages of the history one after the other, with a turn for everyone else between two of them. */
export class PageTurns {
  readonly #mutex = new Mutex();

  /** Runs `work` once the pages before it are done and whatever came in meanwhile was heard. */
  take<T>(work: () => Promise<T>): Promise<T> {
    return this.#mutex.run(async () => {
      await new Promise<void>((resolve) => afterReads(resolve));
      return await work();
    });
  }
}
