/** The bench's mirror rows: each typed letter is echoed on the phone and in the alternative. */
import assert from "node:assert/strict";
import { measure } from "../../bench/measure.ts";
import { resultText } from "../../bench/report.ts";
import { mirrorRows } from "../../bench/rows/mirror.ts";
import { say } from "../../scripts/say.ts";

const LETTERS = 5;

for (const row of mirrorRows.filter(({ name }) => name.includes("key → echo"))) {
  Deno.test(`bench: ${row.name} [perf-key-echo]`, async () => {
    const result = await measure({ ...row, samples: LETTERS });
    say(resultText(result));
    assert.ok(Object.values({ ...result.ours, ...result.theirs }).every((ms) => ms > 0));
    assert.ok(Number.isFinite(result.ratio?.median));
  });
}
