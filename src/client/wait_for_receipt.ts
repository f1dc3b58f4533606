/** Waits over HTTP until nothing more will happen to a push. */
import type { PushRecord } from "../protocol/push.ts";
import type { RelayApi } from "./api.ts";
import { type Clock, delay, systemClock } from "./clock.ts";
import { RelayError } from "./relay_error.ts";

const POLL_DEFAULT_MS = 250;

export interface WaitOptions {
  timeoutMs: number;
  pollMs?: number;
  signal?: AbortSignal;
  /** Told each record as it is seen, also one that is like the last. */
  onRecord?: (record: PushRecord) => void;
  clock?: Clock;
}

/**
 * Polls until `receipt.final`, or until the time is over: then the record as it was seen last, so look at
 * `receipt.final`. A relay that is away for a while is asked again; throws RelayError when it never answered in the
 * time, or said that the push or the key is unknown.
 */
export async function waitForReceipt(api: RelayApi, id: string, options: WaitOptions): Promise<PushRecord> {
  const { pollMs = POLL_DEFAULT_MS, signal, clock = systemClock } = options;
  const end = clock.elapsed() + options.timeoutMs;
  let last: PushRecord | RelayError | undefined;
  for (;;) {
    last = await look(api, id, { signal, last });
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

interface Look {
  signal: AbortSignal | undefined;
  last: PushRecord | RelayError | undefined;
}

/** What one question found: the record, else the last record seen, else the passing failure. */
async function look(api: RelayApi, id: string, options: Look): Promise<PushRecord | RelayError> {
  try {
    return await api.getPush(id, { signal: options.signal });
  } catch (error) {
    if (!(error instanceof RelayError) || !error.transient) throw error;
    return options.last instanceof RelayError ? error : options.last ?? error;
  }
}
