/** Polls a push over HTTP until its receipt is final. */
import { type Clock, delay, systemClock } from "../async/clock.ts";
import type { PushRecord } from "../protocol/push.ts";
import type { RelayApi } from "./api.ts";
import { RelayError } from "./relay_error.ts";

const POLL_DEFAULT_MS = 250;

export interface WaitOptions {
  timeoutMs: number;
  pollMs?: number;
  signal?: AbortSignal;
  /** Called after each poll with the newest record, even if nothing changed. */
  onRecord?: (record: PushRecord) => void;
  clock?: Clock;
}

/**
 * Polls until `receipt.final`; on timeout it returns the last record seen, so check `receipt.final`. Keeps polling
 * while the relay is unreachable, and less often while the key is over its rate limit. Throws RelayError if the relay
 * never answered in time, or if it does not know the push or the key.
 */
export async function waitForReceipt(api: RelayApi, id: string, options: WaitOptions): Promise<PushRecord> {
  const { pollMs = POLL_DEFAULT_MS, signal, clock = systemClock } = options;
  const end = clock.elapsed() + options.timeoutMs;
  let seen: PushRecord | undefined;
  for (;;) {
    const answer = await poll(api, id, signal);
    const failure = answer instanceof RelayError ? answer : undefined;
    if (!(answer instanceof RelayError)) seen = answer;
    if (seen !== undefined) options.onRecord?.(seen);
    if (seen?.receipt.final) return seen;
    const left = end - clock.elapsed();
    if (left <= 0) {
      if (seen === undefined) throw failure;
      return seen;
    }
    // Without this, concurrent waits with one key would use up its rate limit, and none would see a final receipt.
    const pauseMs = Math.max(pollMs, 1_000 * (failure?.retryAfterSeconds ?? 0));
    await delay(Math.min(pauseMs, left), { clock, signal });
  }
}

/** The current record, or the transient failure. */
async function poll(
  api: RelayApi,
  id: string,
  signal: AbortSignal | undefined,
): Promise<PushRecord | RelayError> {
  try {
    return await api.getPush(id, { signal });
  } catch (error) {
    if (!(error instanceof RelayError) || !error.transient) throw error;
    return error;
  }
}
