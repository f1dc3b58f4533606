/** Watches one open connection: pings regularly, and reports when it goes silent and when it is dead. */
import type { Clock } from "../async/clock.ts";
import { PING_INTERVAL_MS, SILENCE_LIMIT_MS } from "../protocol/limits.ts";

export interface Rhythm {
  pingEveryMs: number;
  /** After this much silence the peer counts as not answering; the connection is kept. */
  quietAfterMs: number;
  /** After this much silence the connection counts as dead. */
  deadAfterMs: number;
}

/** The protocol's default. */
export const CALM_RHYTHM: Rhythm = {
  pingEveryMs: PING_INTERVAL_MS,
  quietAfterMs: SILENCE_LIMIT_MS,
  deadAfterMs: SILENCE_LIMIT_MS,
};

/** While the user is looking: a dead link shows within 2 s, but a slow mobile connection is not cut off. */
export const WATCHED_RHYTHM: Rhythm = { pingEveryMs: 750, quietAfterMs: 1_600, deadAfterMs: 5_000 };

interface HeartbeatOptions {
  clock: Clock;
  ping(): void;
  /** The peer stopped answering (false), or answers again (true). */
  onAnswering(answering: boolean): void;
  /** Called once; the heartbeat has stopped itself. */
  onDead(): void;
}

export class Heartbeat {
  readonly #options: HeartbeatOptions;
  #rhythm: Rhythm;
  #heardAt: number;
  #pingedAt: number;
  #answering = true;
  #stopped = false;
  #cancel: () => void = () => {};

  constructor(rhythm: Rhythm, options: HeartbeatOptions) {
    this.#options = options;
    this.#rhythm = rhythm;
    this.#heardAt = options.clock.elapsed();
    this.#pingedAt = this.#heardAt;
    this.#arm();
  }

  /** Call this for everything received: the peer is alive. */
  heard(): void {
    this.#heardAt = this.#options.clock.elapsed();
    if (this.#answering) return;
    this.#answering = true;
    this.#options.onAnswering(true);
  }

  /** A faster rhythm starts with a ping, and measures silence from now. */
  setRhythm(rhythm: Rhythm): void {
    if (rhythm === this.#rhythm) return;
    const isFaster = rhythm.pingEveryMs < this.#rhythm.pingEveryMs;
    this.#rhythm = rhythm;
    if (isFaster) this.check();
    else this.#arm();
  }

  /** Pings now and measures silence from here. */
  check(): void {
    this.#heardAt = this.#options.clock.elapsed();
    this.#ping();
    this.#arm();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  #ping(): void {
    this.#pingedAt = this.#options.clock.elapsed();
    this.#options.ping();
  }

  #tick(): void {
    const now = this.#options.clock.elapsed();
    const silence = now - this.#heardAt;
    if (silence >= this.#rhythm.deadAfterMs) {
      this.stop();
      return this.#options.onDead();
    }
    if (silence >= this.#rhythm.quietAfterMs && this.#answering) {
      this.#answering = false;
      this.#options.onAnswering(false);
    }
    if (now - this.#pingedAt >= this.#rhythm.pingEveryMs) this.#ping();
    this.#arm();
  }

  #arm(): void {
    this.#cancel();
    if (this.#stopped) return;
    const { pingEveryMs, quietAfterMs, deadAfterMs } = this.#rhythm;
    const silenceEnds = this.#heardAt + (this.#answering ? quietAfterMs : deadAfterMs);
    const next = Math.min(this.#pingedAt + pingEveryMs, silenceEnds);
    const wait = Math.max(0, next - this.#options.clock.elapsed());
    this.#cancel = this.#options.clock.after(Math.ceil(wait), () => this.#tick());
  }
}
