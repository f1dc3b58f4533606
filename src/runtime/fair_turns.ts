/** Spreads work over short turns, one address after the other, so that what one address causes delays nobody else for long. */

/** Between two turns the event loop takes what has arrived meanwhile. */
const TURN_MS = 3;

export class FairTurns {
  readonly #perTurn: number;
  /** By address, in the order in which they are served. */
  readonly #waiting = new Map<string, Set<() => void>>();
  #left: number;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** So many pieces of work are done in one turn. */
  constructor(perTurn: number) {
    this.#perTurn = this.#left = perTurn;
  }

  /** Does the work now, or in a later turn when this one has done its share; the result takes it back. */
  run(address: string, work: () => void): () => void {
    this.#timer ??= setTimeout(() => this.#turn(), TURN_MS);
    if (this.#left > 0 && this.#waiting.size === 0) {
      this.#left -= 1;
      work();
      return () => undefined;
    }
    const queue = this.#waiting.get(address) ?? new Set();
    this.#waiting.set(address, queue.add(work));
    return () => {
      queue.delete(work);
      if (queue.size === 0 && this.#waiting.get(address) === queue) this.#waiting.delete(address);
    };
  }

  /** Does at once what waits. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const queues = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const queue of queues) for (const work of queue) work();
  }

  #turn(): void {
    this.#timer = undefined;
    this.#left = this.#perTurn;
    if (this.#waiting.size === 0) return;
    this.#timer = setTimeout(() => this.#turn(), TURN_MS);
    for (const [address, queue] of this.#waiting) {
      const [work] = queue;
      this.#waiting.delete(address);
      if (work === undefined) continue;
      queue.delete(work);
      // Behind the other addresses; this loop reaches it again.
      if (queue.size > 0) this.#waiting.set(address, queue);
      this.#left -= 1;
      work();
      if (this.#left === 0) return;
    }
  }
}
