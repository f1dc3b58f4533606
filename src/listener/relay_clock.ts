/** Converts the relay's times to this host's, and notices when this host's clock was set or the host has slept. */
import { type Clock, ClockJumps, systemClock } from "../async/clock.ts";

export interface RelayClockOptions {
  /** The relay's time is not known until it connects again. Called once for each jump. */
  jumped(): void;
  clock?: Pick<Clock, "now" | "elapsed">;
}

export class RelayClock {
  readonly #options: RelayClockOptions;
  /** Since the offset was measured or a jump was noticed. */
  readonly #jumps: ClockJumps;
  /** The relay's clock minus this one, in milliseconds. */
  #offsetMs = 0;

  constructor(options: RelayClockOptions) {
    this.#options = options;
    this.#jumps = new ClockJumps(options.clock ?? systemClock);
  }

  /** `offsetMs`: the relay's clock minus this one, as its welcome says. */
  connected(offsetMs: number): void {
    this.#offsetMs = offsetMs;
    this.#jumps.forget();
  }

  /** Epoch milliseconds of this host. */
  toLocalTime(relayMs: number): number {
    return relayMs - this.#offsetMs;
  }

  /** Called often: a message would expire at the wrong time until the jump is noticed. */
  check(): void {
    if (this.#jumps.check()) this.#options.jumped();
  }
}
