/** Messages of one session go in one after the other, in the order of acceptance; sessions never wait for one another. */

/** More messages than this waiting for one session are refused. */
export const QUEUE_MAX = 100;

export class SessionQueues {
  #tails = new Map<string, { last: Promise<void>; length: number }>();

  /** False when the session's queue is full. `work` must not throw. */
  add(session: string, work: () => Promise<void>): boolean {
    const queue = this.#tails.get(session) ?? { last: Promise.resolve(), length: 0 };
    if (queue.length >= QUEUE_MAX) return false;
    queue.length += 1;
    queue.last = queue.last.then(work).then(() => {
      queue.length -= 1;
      if (queue.length === 0 && this.#tails.get(session) === queue) this.#tails.delete(session);
    });
    this.#tails.set(session, queue);
    return true;
  }

  /** Resolves when everything that was taken is done. */
  async idle(): Promise<void> {
    await Promise.all([...this.#tails.values()].map((queue) => queue.last));
  }
}
