/** Watches one open connection: pings in a rhythm, tells when it falls silent and when it counts as dead. */
import { PING_INTERVAL_MS, SILENCE_LIMIT_MS } from "../protocol/limits.ts";
import type { Clock } from "./clock.ts";

export interface Rhythm {
  pingEveryMs: number;
  /** Silence after which the peer counts as not answering, though the connection is kept. */
  quietAfterMs: number;
  /** Silence after which the connection counts as dead. */
  deadAfterMs: number;
}

/** The protocol's own rhythm. */
export const CALM_RHYTHM: Rhythm = {
  pingEveryMs: PING_INTERVAL_MS,
  quietAfterMs: SILENCE_LIMIT_MS,
  deadAfterMs: SILENCE_LIMIT_MS,
};

/** While a person looks at the screen: a dead link is told within 2 s, yet a slow radio is not cut off. */
export const WATCHED_RHYTHM: Rhythm = { pingEveryMs: 750, quietAfterMs: 1_600, deadAfterMs: 5_000 };

export interface HeartbeatOptions {
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

  /** Something came in: the peer lives. */
  heard(): void {
    this.#heardAt = this.#options.clock.elapsed();
    if (this.#answering) return;
    this.#answering = true;
    this.#options.onAnswering(true);
  }

  /** A quicker rhythm starts with a ping, and with a fresh measure of silence. */
  setRhythm(rhythm: Rhythm): void {
    if (rhythm === this.#rhythm) return;
    const quicker = rhythm.pingEveryMs < this.#rhythm.pingEveryMs;
    this.#rhythm = rhythm;
    if (quicker) this.check();
    else this.#arm();
  }

  /** Asks now: without an answer the peer counts as silent after the rhythm's times, counted from here. */
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
