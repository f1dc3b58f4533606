/** Tells a flood of output from work: a person cannot read it, and passing it on would slow the program down. */

/** Output of one session within a window that counts as a flood. */
export const FLOOD_BYTES = 65_536;
/** The same while a flood goes on: less is passed on of it. */
export const FLOODING_BYTES = 8_192;
export const FLOOD_WINDOW_MS = 50;
/** How long a flooding session rests: its phones see five screens a second instead. */
export const FLOOD_REST_MS = 200;

export class FloodGauge {
  #begun = 0;
  #bytes = 0;
  #isFlooding = false;

  /** Adds output; true when it is too much. `now` is in milliseconds. */
  isFlood(bytes: number, now: number): boolean {
    if (now - this.#begun >= FLOOD_WINDOW_MS) {
      this.#isFlooding &&= this.#bytes >= FLOODING_BYTES;
      this.#begun = now;
      this.#bytes = 0;
    }
    this.#bytes += bytes;
    return this.#bytes >= (this.#isFlooding ? FLOODING_BYTES : FLOOD_BYTES);
  }

  /** The session was let run on unwatched: what comes next is measured anew, and more strictly. */
  rested(now: number): void {
    this.#isFlooding = true;
    this.#begun = now;
    this.#bytes = 0;
  }
}
