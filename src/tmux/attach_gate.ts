/**
 * Keeps control clients from attaching while tmux is about to notify control clients, as far as the listener knows: a
 * session begins or ends, a client detaches, or a command of the listener causes a notification. Before 3.7, a tmux
 * that notifies a half-attached client crashes, and every session with it (tmux issue 4980).
 */
import { type Clock, delay, systemClock, waitFor } from "../async/clock.ts";

/** A session that was announced counts as begun after this time, in milliseconds. */
export const BEGIN_MS = 1_000;
/** After a session has begun or ended, others may follow for this long, in milliseconds. */
export const CALM_MS = 300;
/** A wait for a calm moment ends after this time: sessions may keep beginning. */
export const CALM_LIMIT_MS = 3_000;
/** A client is attached within milliseconds; a tmux that hangs must not hold up others. */
const ATTACH_LIMIT_MS = 1_000;
const PROBE_MS = 5;

export class AttachGate {
  readonly #clock: Pick<Clock, "elapsed" | "after">;
  #restlessUntil = -Infinity;
  #attaching = 0;
  #beginning = 0;
  #news = 0;

  constructor(clock: Pick<Clock, "elapsed" | "after"> = systemClock) {
    this.#clock = clock;
  }

  /** A client may attach now. */
  get isCalm(): boolean {
    if (this.#beginning > 0 || this.#news > 0) return false;
    return this.#clock.elapsed() >= this.#restlessUntil;
  }

  /** Resolves when a client may attach, or after CALM_LIMIT_MS. */
  async whenCalm(): Promise<void> {
    await this.#until(() => this.isCalm, CALM_LIMIT_MS);
  }

  /** A session has begun or ended. */
  changed(): void {
    this.#restlessUntil = this.#clock.elapsed() + CALM_MS;
  }

  /**
   * A session is about to begin: it may do so once this resolves. `begun` is aborted when it has; after BEGIN_MS it
   * counts as begun.
   */
  async begins(begun: AbortSignal): Promise<void> {
    this.#beginning++;
    await this.#whenAttached();
    const over = delay(BEGIN_MS, { clock: this.#clock, signal: begun }).catch(() => {});
    void over.then(() => this.#beginning--);
  }

  /** A client begins to attach: call the result, once or more, when it has attached or ended. */
  attach(): () => void {
    let isAttaching = true;
    this.#attaching++;
    return () => {
      if (isAttaching) this.#attaching--;
      isAttaching = false;
    };
  }

  /** Runs `work` while no client attaches. It must resolve only once tmux has sent the notifications that it causes. */
  async news<T>(work: () => Promise<T>): Promise<T> {
    this.#news++;
    try {
      await this.#whenAttached();
      return await work();
    } finally {
      this.#news--;
    }
  }

  async #whenAttached(): Promise<void> {
    await this.#until(() => this.#attaching === 0, ATTACH_LIMIT_MS);
    // A client that found the gate calm before may have begun in between.
    if (this.#attaching > 0) await this.#until(() => this.#attaching === 0, ATTACH_LIMIT_MS);
  }

  async #until(condition: () => boolean, limitMs: number): Promise<void> {
    const probe = (): Promise<true | undefined> => Promise.resolve(condition() || undefined);
    await waitFor(probe, { clock: this.#clock, limitMs, everyMs: PROBE_MS });
  }
}
