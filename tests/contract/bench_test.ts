/** The bench's output: figures and ratios of two alternatives, measured in alternation. */
import assert from "node:assert/strict";
import { figures, measure } from "../../bench/measure.ts";
import { resultsJson, resultText } from "../../bench/report.ts";

Deno.test("bench: minimum, median, maximum and the ratio to the alternative, measured in turn [perf-bench]", async () => {
  const order: string[] = [];
  const way = (name: string, values: number[]) => (): Promise<number> => {
    order.push(name);
    return Promise.resolve(values.shift() ?? 0);
  };
  const result = await measure({
    name: "a thing",
    beside: "another",
    aim: "< 1",
    samples: 3,
    open: () =>
      Promise.resolve({
        ours: way("ours", [3, 1, 2]),
        theirs: way("theirs", [8, 4, 6]),
        close: () => Promise.resolve(void order.push("closed")),
      }),
  });
  assert.deepEqual(order, ["ours", "theirs", "ours", "theirs", "ours", "theirs", "closed"]);
  assert.deepEqual(result.ours, { min: 1, median: 2, p99: 3, max: 3 });
  assert.equal(result.unit, "ms");
  assert.equal(result.ratio?.median, 2 / 6);
  const text = resultText(result);
  for (const part of ["min     1.00", "median     6.00", "max     8.00", "ratio 0.33", "aim < 1"]) {
    assert.ok(text.includes(part), text);
  }
  assert.equal(JSON.parse(resultsJson([result])).results[0].name, "a thing");
});

Deno.test("bench: a row without its alternative installed says so, and still has its own figures [perf-bench]", async () => {
  const close = () => Promise.resolve();
  const result = await measure({
    name: "a thing",
    beside: "another",
    aim: "< 1",
    samples: 2,
    open: () =>
      Promise.resolve({ ours: () => Promise.resolve(5), missing: "another is not installed", close }),
  });
  const text = resultText(result);
  for (const part of ["median     5.00", "another: another is not installed", "no ratio; aim < 1"]) {
    assert.ok(text.includes(part), text);
  }
});

Deno.test("bench: the 99th percentile is the nearest rank, one of few values the largest", () => {
  const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);
  for (const [count, p99] of [[200, 198], [100, 99], [5, 5]] as const) {
    const { max, ...found } = figures(upTo(count));
    assert.deepEqual([found.p99, max], [p99, count]);
  }
  assert.deepEqual(figures([3, 1, 2]), { min: 1, median: 2, p99: 3, max: 3 });
});
