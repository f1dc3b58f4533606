/** Waits until a condition holds after a draw, without polling. */

export class DrawWaiter {
  readonly #waiting = new Set<() => void>();

  /** Call this after each draw. */
  drawn(): void {
    for (const check of [...this.#waiting]) check();
  }

  /** Resolves at the first draw after which the condition holds. */
  when(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (!holds()) return;
        this.#waiting.delete(check);
        resolve();
      };
      this.#waiting.add(check);
    });
  }
}
