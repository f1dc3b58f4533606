/** Retries after a transient failure: after the server's Retry-After if it sent one, else after a back-off. */
import { type Clock, delay } from "./clock.ts";

export interface Backoff {
  minMs: number;
  maxMs: number;
  /** In [0, 1). */
  random?: () => number;
}

export interface RetryOptions {
  /** False if the same call would fail again; the error is then thrown. */
  isTransient(error: unknown): boolean;
  backoff: Backoff;
  clock: Pick<Clock, "after">;
  signal?: AbortSignal | undefined;
}

/** Resolves with the result of `work`. Throws its permanent failure, or the signal's reason. */
export async function retry<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { isTransient, backoff, clock, signal } = options;
  for (let attempt = 0;; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error)) throw error;
      await delay(retryDelayMs(error, { attempt, ...backoff }), { clock, signal });
    }
  }
}

/** Milliseconds to wait after this failure of attempt number `attempt`, counted from 0. */
export function retryDelayMs(error: unknown, options: Backoff & { attempt: number }): number {
  const { attempt, ...backoff } = options;
  const seconds = error instanceof Error && "retryAfterSeconds" in error
    ? error.retryAfterSeconds
    : undefined;
  return typeof seconds === "number" ? seconds * 1_000 : backoffMs(attempt, backoff);
}

/** A random wait, so that clients do not return all at once; its bound starts at `minMs` and doubles up to `maxMs`. */
export function backoffMs(attempt: number, { minMs, maxMs, random = Math.random }: Backoff): number {
  return Math.floor(random() * Math.min(maxMs, minMs * 2 ** Math.min(attempt, 30)));
}
