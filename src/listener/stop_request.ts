/** The wish that the daemon end: the first asks, the second insists. */

export class StopRequest {
  /** Resolves at the first wish. */
  readonly asked: Promise<void>;
  /** Resolves at the second: do not wait for the injection in hand. */
  readonly forced: Promise<void>;
  readonly #steps: (() => void)[] = [];

  constructor() {
    this.asked = new Promise((resolve) => this.#steps.push(resolve));
    this.forced = new Promise((resolve) => this.#steps.push(resolve));
  }

  ask(): void {
    this.#steps.shift()?.();
  }
}
