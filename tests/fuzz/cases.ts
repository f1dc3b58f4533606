/** Shared by the fuzz tests: the number of cases, what counts as a hang, and how failing cases are kept. */
import fc from "fast-check";
import { say } from "../../scripts/say.ts";

const asked = Deno.env.get("SVC_FUZZ_RUNS");

/** Cases per target; `deno task test:fuzz` runs 100,000. */
export const RUNS = Number(asked ?? 100);

/** Properties that start other work run fewer cases at once. */
export const PARAMETERS = { numRuns: RUNS } as const;

/** In longer runs prints a line for each target that has held. */
export function report(target: string, begun: number): void {
  if (asked === undefined) return;
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
  say(`fuzz ${target}: ${RUNS} cases, ${seconds} s, 0 faults`);
}

/** Runs the property over examples that once failed, and over new cases. */
export function fuzz<T>(
  target: string,
  arbitrary: fc.Arbitrary<T>,
  { found = [], holds }: { found?: readonly T[]; holds(value: T): void },
): void {
  const begun = performance.now();
  fc.assert(fc.property(arbitrary, (value) => holds(value)), {
    ...PARAMETERS,
    examples: found.map((value): [T] => [value]),
  });
  report(target, begun);
}

/** The same for an asynchronous property. */
export async function fuzzAsync<T>(
  target: string,
  arbitrary: fc.Arbitrary<T>,
  { found = [], holds }: { found?: readonly T[]; holds(value: T): Promise<void> },
): Promise<void> {
  const begun = performance.now();
  await fc.assert(fc.asyncProperty(arbitrary, (value) => holds(value)), {
    ...PARAMETERS,
    examples: found.map((value): [T] => [value]),
  });
  report(target, begun);
}

export const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme" }),
  fc.json(),
);
