/** Samples, their figures, and the comparison of two ways to do one thing, measured in turn. */

/** Does the thing once and returns its milliseconds, or how many of the row's unit there were. */
export type Sample = () => Promise<number>;

export interface Row {
  name: string;
  /** What a person would use instead. */
  beside: string;
  /** The ratio of the medians that is aimed at. */
  aim: string;
  /** Prepares both ways; `close` ends what was started. */
  open(): Promise<{ ours: Sample; theirs: Sample; close(): Promise<void> }>;
  samples: number;
  /** Of the figures; milliseconds when left out. */
  unit?: string;
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
  theirs: Figures;
  /** Ours by theirs. */
  ratio: { median: number; p99: number };
}

export function figures(values: readonly number[]): Figures {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (part: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? NaN;
  return { min: at(0), median: at(0.5), p99: at(0.99), max: at(1) };
}

/** Both ways in turn, so that the machine's moods strike both. */
export async function measure(row: Row): Promise<Result> {
  const { ours, theirs, close } = await row.open();
  const own: number[] = [];
  const other: number[] = [];
  try {
    for (let round = 0; round < row.samples; round++) {
      own.push(await ours());
      other.push(await theirs());
    }
  } finally {
    await close();
  }
  const [mine, yours] = [figures(own), figures(other)];
  const ratio = { median: mine.median / yours.median, p99: mine.p99 / yours.p99 };
  const { name, beside, aim, samples, unit = "ms" } = row;
  return { name, beside, aim, unit, samples, ours: mine, theirs: yours, ratio };
}

/** Milliseconds that `work` takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}
