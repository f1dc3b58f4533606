/** Samples, their statistics, and the comparison of two alternatives, measured alternately. */

/** Runs once and returns the milliseconds, or the number in the row's unit. */
export type Sample = () => Promise<number>;

export interface Row {
  name: string;
  /** What a user would use instead. */
  beside: string;
  /** The target ratio of the medians. */
  aim: string;
  open(): Promise<Stage>;
  samples: number;
  /** The figures' unit; milliseconds when left out. */
  unit?: string;
}

/** Both alternatives, prepared; `close` ends what was started. */
export interface Stage {
  ours: Sample;
  /** Undefined where there is nothing to compare with. */
  theirs?: Sample | undefined;
  /** Why there is no alternative on this machine. */
  missing?: string | undefined;
  close(): Promise<void>;
}

export interface Figures {
  min: number;
  median: number;
  p99: number;
  max: number;
}

export interface Result {
  name: string;
  beside: string;
  aim: string;
  unit: string;
  samples: number;
  ours: Figures;
  theirs?: Figures;
  missing?: string;
  /** Ours divided by theirs. */
  ratio?: { median: number; p99: number };
  /** Runnable processes when the row began: the load average of the last minute. */
  load: number;
}

export function figures(values: readonly number[]): Figures {
  const sorted = [...values].sort((a, b) => a - b);
  // The nearest rank: the smallest value that this share of all values does not exceed.
  const at = (part: number): number => sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? NaN;
  return { min: at(0), median: at(0.5), p99: at(0.99), max: at(1) };
}

/** Measures both in alternation, so that other load affects both. */
export async function measure(row: Row): Promise<Result> {
  const [load = 0] = Deno.loadavg();
  const { ours, theirs, missing, close } = await row.open();
  const own: number[] = [];
  const other: number[] = [];
  try {
    for (let round = 0; round < row.samples; round++) {
      own.push(await ours());
      if (theirs !== undefined) other.push(await theirs());
    }
  } finally {
    await close();
  }
  const { name, beside, aim, samples, unit = "ms" } = row;
  const [mine, yours] = [figures(own), figures(other)];
  const result = { name, beside, aim, unit, samples, load, ours: mine };
  if (theirs === undefined) return { ...result, ...(missing === undefined ? {} : { missing }) };
  const ratio = { median: mine.median / yours.median, p99: mine.p99 / yours.p99 };
  return { ...result, theirs: yours, ratio };
}

/** Returns how long `work` takes, in milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}
