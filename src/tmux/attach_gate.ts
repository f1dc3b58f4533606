/**
 * Keeps control clients from attaching while tmux has news for control clients of which the listener knows: a session begins
 * or ends, a client detaches, or a command of the listener is news. Before 3.7, a tmux that sends any news to a half-attached
 * client crashes, and every session with it (tmux issue 4980).
 */
import { type Clock, delay, systemClock, waitFor } from "../async/clock.ts";

/** A session that was announced counts as begun after this time, in milliseconds. */
export const BEGIN_MS = 1_000;
/** After a session has begun or ended, others may follow for this long, in milliseconds. */
export const CALM_MS = 300;
/** Who waits for a calm moment goes on after this time: sessions may begin without end. */
export const CALM_LIMIT_MS = 3_000;
/** A client is attached within milliseconds; a tmux that stands still must not hold up others. */
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

  /** A session is about to begin: it may once this resolves, until `begun`, or for BEGIN_MS. */
  async begins(begun: AbortSignal): Promise<void> {
    this.#beginning++;
    await this.#whenAttached();
    const over = delay(BEGIN_MS, { clock: this.#clock, signal: begun }).catch(() => {});
    void over.then(() => this.#beginning--);
  }

  /** A client attaches: call the result, once or more, when it has, or has ended. */
  attach(): () => void {
    let isAttaching = true;
    this.#attaching++;
    return () => {
      if (isAttaching) this.#attaching--;
      isAttaching = false;
    };
  }

  /** Runs `work`, which resolves once tmux has sent the news of it, while no other client attaches. */
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
    // Between that look and this line, a client may have begun that found the gate calm before.
    if (this.#attaching > 0) await this.#until(() => this.#attaching === 0, ATTACH_LIMIT_MS);
  }

  async #until(isSo: () => boolean, limitMs: number): Promise<void> {
    const probe = (): Promise<true | undefined> => Promise.resolve(isSo() || undefined);
    await waitFor(probe, { clock: this.#clock, limitMs, everyMs: PROBE_MS });
  }
}
