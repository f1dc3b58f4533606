/** A clock that stands still until a test advances it. */
import type { Clock } from "../../src/async/clock.ts";

interface Alarm {
  at: number;
  action: () => void;
}

export class FakeClock implements Clock {
  #now: number;
  readonly #start: number;
  readonly #alarms = new Set<Alarm>();

  constructor(now = 1_800_000_000_000) {
    this.#now = now;
    this.#start = now;
  }

  now(): number {
    return this.#now;
  }

  elapsed(): number {
    return this.#now - this.#start;
  }

  after(ms: number, action: () => void): () => void {
    const alarm = { at: this.#now + ms, action };
    this.#alarms.add(alarm);
    return () => void this.#alarms.delete(alarm);
  }

  /** How many timers are set. */
  get pending(): number {
    return this.#alarms.size;
  }

  /** Runs what falls due on the way, in order of time. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.#alarms.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.action();
    }
    this.#now = end;
  }

  #next(end: number): Alarm | undefined {
    const due = [...this.#alarms].filter((alarm) => alarm.at <= end);
    return due.sort((one, other) => one.at - other.at)[0];
  }
}
