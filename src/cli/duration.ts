/** Spans of time in words. */

const UNITS: readonly [ms: number, name: string][] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
];

/** In the largest unit that has a whole one: `3 min`, `2 d`; `0 s` for less than a second. */
export function duration(ms: number): string {
  const [unit, name] = UNITS.find(([size]) => ms >= size) ?? [1_000, "s"];
  return `${Math.max(0, Math.floor(ms / unit))} ${name}`;
}
