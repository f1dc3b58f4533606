/** Detects when someone between host and phone withholds, replays or changes parts of a mirror. */
import type { Clock } from "../async/clock.ts";
import { MIRROR_SILENT_MS } from "../protocol/limits.ts";

/**
 * `silent`: nothing arrived for too long, not even the pulse. `keys_late`: keys sent before the last pulse had not reached
 * the host at this one. `tampered`: frames were lost, repeated or could not be opened.
 */
export type Trouble = "silent" | "keys_late" | "tampered";

interface TerminalWatchOptions {
  clock: Pick<Clock, "elapsed" | "after">;
  /** Called when `trouble` has changed. */
  changed(): void;
}

export class TerminalWatch {
  readonly #options: TerminalWatchOptions;
  #heardAt = 0;
  #isSilent = false;
  #areKeysLate = false;
  /** Stays set, so that the user sees it even if the mirror recovers at once. */
  #isTampered = false;
  #sentAtPulse = 0;
  #cancel: () => void = () => {};

  constructor(options: TerminalWatchOptions) {
    this.#options = options;
  }

  get trouble(): Trouble | undefined {
    if (this.#isSilent) return "silent";
    if (this.#areKeysLate) return "keys_late";
    return this.#isTampered ? "tampered" : undefined;
  }

  /** Call this when the mirror is live. */
  start(): void {
    this.stop();
    this.#heardAt = this.#options.clock.elapsed();
    this.#wait(MIRROR_SILENT_MS);
  }

  /** Call this when the mirror is closed. */
  stop(): void {
    this.#cancel();
    this.#cancel = () => {};
    this.#isSilent = this.#areKeysLate = false;
    this.#sentAtPulse = 0;
  }

  /** Call this when a frame arrived and could be opened. */
  heard(): void {
    this.#heardAt = this.#options.clock.elapsed();
    if (!this.#isSilent) return;
    this.#isSilent = false;
    this.#wait(MIRROR_SILENT_MS);
    this.#options.changed();
  }

  /** Compares the keystroke frames that the host has received with those sent. */
  pulse({ received, sent }: { received: number; sent: number }): void {
    const areLate = received < this.#sentAtPulse;
    this.#sentAtPulse = sent;
    if (areLate === this.#areKeysLate) return;
    this.#areKeysLate = areLate;
    this.#options.changed();
  }

  tampered(): void {
    if (this.#isTampered) return;
    this.#isTampered = true;
    this.#options.changed();
  }

  #wait(ms: number): void {
    this.#cancel = this.#options.clock.after(ms, () => this.#checkSilence());
  }

  #checkSilence(): void {
    const left = this.#heardAt + MIRROR_SILENT_MS - this.#options.clock.elapsed();
    if (left > 0) return this.#wait(left);
    this.#isSilent = true;
    this.#options.changed();
  }
}
