/** Work that nobody waits for until the end: its failures are told, and a stop waits for it. */

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

  /** Resolves when nothing runs any more. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
