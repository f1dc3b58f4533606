/** Metrics in the Prometheus text format. */
import assert from "node:assert/strict";
import { Counter, counter, Gauge, Histogram, RelayMetrics } from "../../../src/relay/metrics.ts";

Deno.test("a counter counts per labels, and is shown before it is first increased [http-metrics]", () => {
  const counter = new Counter("svc_x_total", "X.");
  assert.deepEqual(counter.render(), [
    "# HELP svc_x_total X.",
    "# TYPE svc_x_total counter",
    "svc_x_total 0",
  ]);
  counter.add({ outcome: "typed" });
  counter.add({ outcome: "typed" }, 2);
  assert.deepEqual(counter.render().slice(2), ['svc_x_total{outcome="typed"} 3']);
});

Deno.test("a gauge is read when it is rendered", () => {
  let value = 1;
  const gauge = new Gauge("svc_y", { help: "Y.", read: () => [[{ role: "phone" }, value]] });
  value = 5;
  assert.deepEqual(gauge.render().slice(1), ["# TYPE svc_y gauge", 'svc_y{role="phone"} 5']);
});

Deno.test("a histogram's buckets are cumulative", () => {
  const histogram = new Histogram("svc_z_seconds", "Z.");
  for (const seconds of [0.001, 0.02, 3, 10_000]) histogram.observe(seconds);
  const lines = histogram.render();
  for (
    const line of [
      'svc_z_seconds_bucket{le="0.001"} 1',
      'svc_z_seconds_bucket{le="0.01"} 1',
      'svc_z_seconds_bucket{le="0.025"} 2',
      'svc_z_seconds_bucket{le="5"} 3',
      'svc_z_seconds_bucket{le="600"} 3',
      'svc_z_seconds_bucket{le="+Inf"} 4',
      "svc_z_seconds_sum 10003.021",
      "svc_z_seconds_count 4",
    ]
  ) assert.ok(lines.includes(line), `${line}\n${lines.join("\n")}`);
});

Deno.test("what a module declares is listed at 0 and by name, and each relay counts for itself [http-metrics]", () => {
  const [later, earlier] = [counter("svc_test_b_total", "B."), counter("svc_test_a_total", "A.")];
  const [one, other] = [new RelayMetrics(), new RelayMetrics()];
  one.of(later).add({}, 2);
  const values = (metrics: RelayMetrics): string[] => metrics.render([]).match(/^svc_test_.*$/gm) ?? [];
  assert.deepEqual(values(one), ["svc_test_a_total 0", "svc_test_b_total 2"]);
  assert.deepEqual(values(other), ["svc_test_a_total 0", "svc_test_b_total 0"]);
  other.of(earlier).add();
  assert.deepEqual(values(one), ["svc_test_a_total 0", "svc_test_b_total 2"]);
});
