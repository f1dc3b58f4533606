/** Clocks for tests: one stands still until a test advances it, the other runs and can skip ahead. */
import { type Clock, systemClock } from "../../src/async/clock.ts";

interface Alarm {
  at: number;
  action: () => void;
}

export class FakeClock implements Clock {
  #now: number;
  readonly #start: number;
  /** How far the wall clock is ahead of the timers' clock. */
  #aheadMs = 0;
  readonly #alarms = new Set<Alarm>();

  constructor(now = 1_800_000_000_000) {
    this.#now = now;
    this.#start = now;
  }

  now(): number {
    return this.#now + this.#aheadMs;
  }

  /** Sets the wall clock ahead, or back. */
  jump(ms: number): void {
    this.#aheadMs += ms;
  }

  elapsed(): number {
    return this.#now - this.#start;
  }

  after(ms: number, action: () => void): () => void {
    const alarm = { at: this.#now + ms, action };
    this.#alarms.add(alarm);
    return () => void this.#alarms.delete(alarm);
  }

  /** The number of timers that are set. */
  get pending(): number {
    return this.#alarms.size;
  }

  /** Runs the timers that become due, in the order of their times. */
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

/** The real clock, which can skip ahead. */
export class SkippingClock implements Clock {
  readonly #waiting = new Set<{ at: number; action: () => void }>();
  #skipped = 0;

  now(): number {
    return systemClock.now() + this.#skipped;
  }

  elapsed(): number {
    return systemClock.elapsed() + this.#skipped;
  }

  after(ms: number, action: () => void): () => void {
    const run = (): void => {
      if (this.#waiting.delete(entry)) action();
    };
    const entry = { at: this.elapsed() + ms, action: run };
    this.#waiting.add(entry);
    const cancel = systemClock.after(ms, run);
    return () => {
      cancel();
      this.#waiting.delete(entry);
    };
  }

  /** Skips ahead and runs the timers that become due. */
  skip(ms: number): void {
    this.#skipped += ms;
    for (const { at, action } of [...this.#waiting]) if (at <= this.elapsed()) action();
  }
}
