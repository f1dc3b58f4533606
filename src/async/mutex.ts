/** Runs tasks one at a time, in the order of the calls. */

export class Mutex {
  #tail: Promise<void> = Promise.resolve();
  #tasks = 0;

  /** Tasks that are running or waiting. */
  get size(): number {
    return this.#tasks;
  }

  /** Starts `task` at once when nothing is running. A task that throws does not stop the ones after it. */
  async run<T>(task: () => T | Promise<T>): Promise<T> {
    const before = this.#tail;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#tail = promise;
    const isFree = this.#tasks === 0;
    this.#tasks++;
    if (!isFree) await before;
    try {
      return await task();
    } finally {
      this.#tasks--;
      resolve();
    }
  }

  /** Resolves when every task that was added so far has ended. */
  async idle(): Promise<void> {
    await this.#tail;
  }
}
