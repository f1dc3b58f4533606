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
