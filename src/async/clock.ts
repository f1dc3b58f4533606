/** A clock of three functions, which tests can advance by hand, and waits that use it. */

export interface Clock {
  /** Wall clock, epoch milliseconds. May jump. */
  now(): number;
  /** Milliseconds since some fixed moment; never goes back. */
  elapsed(): number;
  /** Runs `action` once after `ms`; the returned function cancels it. */
  after(ms: number, action: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after: (ms, action) => {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  },
};

export interface DelayOptions {
  clock: Pick<Clock, "after">;
  signal?: AbortSignal | undefined;
}

/** Resolves after `ms`; rejects with the signal's reason when that fires first. */
export function delay(ms: number, { clock, signal }: DelayOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = (): void => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** The wall clock and the monotonic one differ by this much only if the wall clock was set, or the host slept. */
export const CLOCK_JUMP_MS = 5_000;

/** Detects that the wall clock was set or the host slept. */
export class ClockJumps {
  readonly #clock: Pick<Clock, "now" | "elapsed">;
  /** The wall clock minus the monotonic one, in milliseconds, at the last `forget`. */
  #baseMs = 0;

  constructor(clock: Pick<Clock, "now" | "elapsed">) {
    this.#clock = clock;
    this.forget();
  }

  /** Forgets any jump so far. */
  forget(): void {
    this.#baseMs = this.#clock.now() - this.#clock.elapsed();
  }

  /** How far the wall clock has jumped since the last `forget`, in milliseconds. */
  get jumpMs(): number {
    const drift = this.#clock.now() - this.#clock.elapsed() - this.#baseMs;
    return Math.abs(drift) < CLOCK_JUMP_MS ? 0 : drift;
  }

  /** True once per jump. */
  check(): boolean {
    if (this.jumpMs === 0) return false;
    this.forget();
    return true;
  }
}

/** Long work blocks the event loop for about this long at most, in milliseconds. */
export const BREATH_MS = 8;

/** Returns a function to await between small steps of long work: it yields to the event loop every BREATH_MS. */
export function breather(clock: Pick<Clock, "elapsed" | "after">): () => Promise<void> {
  let since = clock.elapsed();
  return async () => {
    if (clock.elapsed() - since < BREATH_MS) return;
    await delay(0, { clock });
    since = clock.elapsed();
  };
}

interface WaitForOptions {
  clock: Pick<Clock, "elapsed" | "after">;
  /** How long to poll, in milliseconds. */
  limitMs: number;
  /** The pause between two polls, in milliseconds; it may depend on the time waited so far. */
  everyMs: number | ((waitedMs: number) => number);
}

/** The first defined value of `probe`, or undefined once the limit has passed. */
export async function waitFor<T>(
  probe: () => Promise<T | undefined>,
  { clock, limitMs, everyMs }: WaitForOptions,
): Promise<T | undefined> {
  const begun = clock.elapsed();
  for (;;) {
    const found = await probe();
    if (found !== undefined || clock.elapsed() >= begun + limitMs) return found;
    await delay(typeof everyMs === "number" ? everyMs : everyMs(clock.elapsed() - begun), { clock });
  }
}

/** Waits at most `ms` for `work`: true if it finished. Rejects if `work` rejects by then; ignores a later failure. */
export async function atMost(
  work: Promise<unknown>,
  { clock, ms }: { clock: Pick<Clock, "after">; ms: number },
): Promise<boolean> {
  const late = Promise.withResolvers<false>();
  const cancel = clock.after(Math.max(0, ms), () => late.resolve(false));
  try {
    return await Promise.race([work.then(() => true), late.promise]);
  } finally {
    cancel();
  }
}

/** A wait longer than this is explained to the user, in milliseconds. */
export const PATIENCE_MS = 1_000;

/** The result of `work`; calls `show` when it takes longer than PATIENCE_MS. */
export async function withProgress<T>(
  work: Promise<T>,
  { clock, show }: { clock: Pick<Clock, "after">; show(): void },
): Promise<T> {
  const cancel = clock.after(PATIENCE_MS, show);
  try {
    return await work;
  } finally {
    cancel();
  }
}
