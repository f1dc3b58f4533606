/** The messages of each session run one at a time, in order. */
import { Mutex } from "../async/mutex.ts";

/** Messages that may wait for one session; more are refused. */
export const QUEUE_MAX = 100;

/** Messages of one session run one at a time, in order; sessions do not wait for one another. */
export class SessionQueues {
  readonly #queues = new Map<string, Mutex>();

  /** Resolves when the work is done; undefined if the session's queue is full. `work` must not throw. */
  add(session: string, work: () => Promise<void>): Promise<void> | undefined {
    const queue = this.#queues.get(session) ?? new Mutex();
    if (queue.size >= QUEUE_MAX) return undefined;
    this.#queues.set(session, queue);
    return queue.run(work).then(() => {
      if (queue.size === 0 && this.#queues.get(session) === queue) this.#queues.delete(session);
    });
  }

  /** Resolves when all accepted work is done. */
  async idle(): Promise<void> {
    await Promise.all([...this.#queues.values()].map((queue) => queue.idle()));
  }
}
