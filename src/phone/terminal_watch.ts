/** Notices what somebody between host and phone holds back, repeats or changes of a mirror. */
import type { Clock } from "../async/clock.ts";
import { MIRROR_SILENT_MS } from "../protocol/limits.ts";

/**
 * `silent`: nothing came for too long, not even the pulse. `keys_late`: keys that went out before the last pulse had not
 * arrived at this one. `meddled`: frames were lost, came twice or did not open.
 */
export type Trouble = "silent" | "keys_late" | "meddled";

export interface TerminalWatchOptions {
  clock: Pick<Clock, "elapsed" | "after">;
  /** The trouble is another one, or there is none any more. */
  changed(): void;
}

export class TerminalWatch {
  readonly #options: TerminalWatchOptions;
  #heardAt = 0;
  #isSilent = false;
  #areKeysLate = false;
  /** Stays: the person is to see it, also when the mirror came back at once. */
  #isMeddled = false;
  #typedAtPulse = 0;
  #cancel: () => void = () => {};

  constructor(options: TerminalWatchOptions) {
    this.#options = options;
  }

  get trouble(): Trouble | undefined {
    if (this.#isSilent) return "silent";
    if (this.#areKeysLate) return "keys_late";
    return this.#isMeddled ? "meddled" : undefined;
  }

  /** A mirror begins. */
  start(): void {
    this.stop();
    this.#heardAt = this.#options.clock.elapsed();
    this.#wait(MIRROR_SILENT_MS);
  }

  /** There is no mirror to be heard of. */
  stop(): void {
    this.#cancel();
    this.#cancel = () => {};
    this.#isSilent = this.#areKeysLate = false;
    this.#typedAtPulse = 0;
  }

  /** A frame came, and opened. */
  heard(): void {
    this.#heardAt = this.#options.clock.elapsed();
    if (!this.#isSilent) return;
    this.#isSilent = false;
    this.#wait(MIRROR_SILENT_MS);
    this.#options.changed();
  }

  /** The host has taken so many of the keystroke frames that were typed here. */
  pulse({ received, typed }: { received: number; typed: number }): void {
    const areLate = received < this.#typedAtPulse;
    this.#typedAtPulse = typed;
    if (areLate === this.#areKeysLate) return;
    this.#areKeysLate = areLate;
    this.#options.changed();
  }

  meddled(): void {
    if (this.#isMeddled) return;
    this.#isMeddled = true;
    this.#options.changed();
  }

  #wait(ms: number): void {
    this.#cancel = this.#options.clock.after(ms, () => this.#look());
  }

  #look(): void {
    const left = this.#heardAt + MIRROR_SILENT_MS - this.#options.clock.elapsed();
    if (left > 0) return this.#wait(left);
    this.#isSilent = true;
    this.#options.changed();
  }
}
