/** Waits for a drawing after which something holds, without a moment's delay. */

export class Looks {
  readonly #waiting = new Set<() => void>();

  /** To be called after each drawing. */
  drawn(): void {
    for (const look of [...this.#waiting]) look();
  }

  /** Resolves at the first drawing after which it holds. */
  when(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!holds()) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
    });
  }
}
