/** Spans of time in words. */
import assert from "node:assert/strict";
import { duration } from "../../../src/cli/duration.ts";

Deno.test("the largest unit that has a whole one", () => {
  const cases: [number, string][] = [
    ...[[0, "0 s"], [999, "0 s"], [59_999, "59 s"], [60_000, "1 min"]] as [number, string][],
    ...[[3_599_999, "59 min"], [7_200_000, "2 h"], [172_800_000, "2 d"], [-5_000, "0 s"]] as [
      number,
      string,
    ][],
  ];
  for (const [ms, words] of cases) assert.equal(duration(ms), words, String(ms));
});
