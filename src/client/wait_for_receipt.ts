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
  /** Called with each record, even if nothing changed. */
  onRecord?: (record: PushRecord) => void;
  clock?: Clock;
}

/**
 * Polls until `receipt.final`; on timeout it returns the last record seen, so check `receipt.final`. Keeps polling
 * while the relay is unreachable. Throws RelayError if the relay never answered in time, or if it does not know the push or
 * the key.
 */
export async function waitForReceipt(api: RelayApi, id: string, options: WaitOptions): Promise<PushRecord> {
  const { pollMs = POLL_DEFAULT_MS, signal, clock = systemClock } = options;
  const end = clock.elapsed() + options.timeoutMs;
  let last: PushRecord | RelayError | undefined;
  for (;;) {
    last = await poll(api, id, { signal, last });
    const seen = last instanceof RelayError ? undefined : last;
    if (seen !== undefined) options.onRecord?.(seen);
    if (seen?.receipt.final) return seen;
    const left = end - clock.elapsed();
    if (left <= 0) {
      if (last instanceof RelayError) throw last;
      return last;
    }
    await delay(Math.min(pollMs, left), { clock, signal });
  }
}

interface PollOptions {
  signal: AbortSignal | undefined;
  last: PushRecord | RelayError | undefined;
}

/** The current record, else the last record seen, else the transient failure. */
async function poll(api: RelayApi, id: string, options: PollOptions): Promise<PushRecord | RelayError> {
  try {
    return await api.getPush(id, { signal: options.signal });
  } catch (error) {
    if (!(error instanceof RelayError) || !error.transient) throw error;
    return options.last instanceof RelayError ? error : options.last ?? error;
  }
}
