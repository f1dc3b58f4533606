/** Work that runs one at a time: in turn, or once for everyone who asks for it at the same time. */

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

/** One run of some work for everyone who asks for it at the same time. */
export class SharedRun<T> {
  readonly #work: () => Promise<T>;
  #running: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  constructor(work: () => Promise<T>) {
    this.#work = work;
  }

  /** The result of a run that begins after the call. A failed run fails everyone who shares it, and no later one. */
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
