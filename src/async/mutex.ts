/** Serializes work: tasks run one after another, or concurrent callers share one run. */

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

/** Lets concurrent callers share one run of some work. */
export class SharedRun<T> {
  readonly #work: () => Promise<T>;
  #running: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  constructor(work: () => Promise<T>) {
    this.#work = work;
  }

  /** Resolves with the result of a run that starts after the call. A failed run rejects only for those who share it. */
  get(): Promise<T> {
    if (this.#next !== undefined) return this.#next;
    if (this.#running === undefined) return this.#start();
    return this.#next = this.#running.catch(() => undefined).then(() => {
      this.#next = undefined;
      return this.#start();
    });
  }

  #start(): Promise<T> {
    const running = this.#work().finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    return this.#running = running;
  }
}
