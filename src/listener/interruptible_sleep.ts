/** Pauses that a hook's report cuts short and that end with Stopping when the daemon stops. */
import { Stopping } from "./inject/outcome.ts";

export class Waker {
  #sleepers = new Set<() => void>();
  #stopped = false;

  async pause(ms: number): Promise<void> {
    if (!this.#stopped) await this.#sleep(ms);
    if (this.#stopped) throw new Stopping("the daemon stops");
  }

  /** Something happened that waiting messages want to look at. */
  wake(): void {
    for (const wake of [...this.#sleepers]) wake();
  }

  stop(): void {
    this.#stopped = true;
    this.wake();
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#sleepers.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      this.#sleepers.add(wake);
    });
  }
}
