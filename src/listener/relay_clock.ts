/** Converts the relay's times to this host's, and notices when this host's clock was set or the host has slept. */
import { type Clock, systemClock } from "../async/clock.ts";

/** The wall clock and the monotonic one differ by this much only if the wall clock was set, or the host slept. */
export const CLOCK_JUMP_MS = 5_000;

export interface RelayClockOptions {
  /** The relay's time is not known until it connects again. Called once for each jump. */
  jumped(): void;
  clock?: Pick<Clock, "now" | "elapsed">;
}

export class RelayClock {
  readonly #options: RelayClockOptions;
  readonly #clock: Pick<Clock, "now" | "elapsed">;
  /** The relay's clock minus this one, in milliseconds. */
  #offsetMs = 0;
  /** The wall clock minus the monotonic one, in milliseconds, when the offset was measured or a jump was noticed. */
  #baseMs: number;

  constructor(options: RelayClockOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#baseMs = this.#readBase();
  }

  /** `offsetMs`: the relay's clock minus this one, as its welcome says. */
  connected(offsetMs: number): void {
    this.#offsetMs = offsetMs;
    this.#baseMs = this.#readBase();
  }

  /** Epoch milliseconds of this host. */
  toLocalTime(relayMs: number): number {
    return relayMs - this.#offsetMs;
  }

  /** Called often: a message would expire at the wrong time until the jump is noticed. */
  check(): void {
    const base = this.#readBase();
    if (Math.abs(base - this.#baseMs) < CLOCK_JUMP_MS) return;
    this.#baseMs = base;
    this.#options.jumped();
  }

  #readBase(): number {
    return this.#clock.now() - this.#clock.elapsed();
  }
}
