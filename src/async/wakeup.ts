/** A wait or a pause that another part of the program can end early. */
import { type Clock, systemClock } from "./clock.ts";

export class Wakeup {
  readonly #clock: Pick<Clock, "after">;
  readonly #waiting = new Set<() => void>();
  #isPending = false;

  constructor(clock: Pick<Clock, "after"> = systemClock) {
    this.#clock = clock;
  }

  /** Ends every wait and sleep under way. When there is none, the next `wait` ends at once. */
  wake(): void {
    this.#isPending = this.#waiting.size === 0;
    for (const wake of [...this.#waiting]) wake();
  }

  /** Resolves on a wake-up, even an earlier one, or after `ms`; rejects with the signal's reason when that fires. */
  async wait(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (!this.#isPending) return await this.sleep(ms, signal);
    this.#isPending = false;
  }

  /** Resolves after `ms`, or on a wake-up meanwhile; rejects with the signal's reason when that fires. */
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
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
