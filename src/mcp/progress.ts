/** Tells a client that asked for it how long a call has waited, so that its patience does not end. */
import type { Clock } from "../async/clock.ts";

export const PROGRESS_EVERY_MS = 20_000;

export interface Progress {
  /** Seconds. */
  progress: number;
  /** Seconds. */
  total: number;
  message: string;
}

/** Returns how to stop. */
export function startProgress(
  tell: (progress: Progress) => void,
  { clock, totalSeconds }: { clock: Clock; totalSeconds: number },
): () => void {
  const start = clock.elapsed();
  let cancel = (): void => {};
  const next = (): void => {
    cancel = clock.after(PROGRESS_EVERY_MS, () => {
      const waited = Math.round((clock.elapsed() - start) / 1_000);
      const message = `Waiting for an answer from the phone: ${waited} s of ${totalSeconds} s`;
      tell({ progress: waited, total: totalSeconds, message });
      next();
    });
  };
  next();
  return () => cancel();
}
