/** Tells a person what is waited for, once it takes longer than they expect. */
import { type Clock, systemClock } from "../async/clock.ts";
import { printError } from "./output.ts";

/** After this time a person is told, in milliseconds. */
export const PATIENCE_MS = 1_000;

export interface ProgressOptions {
  clock?: Clock;
  show?: (line: string) => void;
}

/** The result of `work`; `line` is shown on stderr when it takes more than a second. */
export async function withProgress<T>(
  line: string,
  work: Promise<T>,
  { clock = systemClock, show = printError }: ProgressOptions = {},
): Promise<T> {
  const cancel = clock.after(PATIENCE_MS, () => show(line));
  try {
    return await work;
  } finally {
    cancel();
  }
}
