/** Wakes who waits for news; a ring that nobody heard is not lost. */
import type { Clock } from "../client/clock.ts";

export class Bell {
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();
  #unheard = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  ring(): void {
    this.#unheard = this.#waiting.size === 0;
    for (const wake of [...this.#waiting]) wake();
  }

  /** Resolves at a ring, or after `ms`; rejects with the signal's reason when that fires first. */
  next(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      if (this.#unheard) {
        this.#unheard = false;
        return resolve();
      }
      const end = (): void => {
        this.#waiting.delete(end);
        cancel();
        signal?.removeEventListener("abort", onAbort);
        resolve();
      };
      const onAbort = (): void => {
        reject(signal?.reason);
        end();
      };
      const cancel = this.#clock.after(ms, end);
      this.#waiting.add(end);
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }
}
