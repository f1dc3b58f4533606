/** `deno task prove` prints a line with a figure for each claim, and fails when a claim is broken. */
import assert from "node:assert/strict";
import type { Claim } from "../../scripts/prove/claims.ts";
import { CLAIMS, selectClaims } from "../../scripts/prove/claims.ts";
import { runClaim } from "../../scripts/prove/run_claim.ts";
import { CHECKOUT } from "../helpers/sources.ts";
import { makeSandbox } from "../helpers/sandbox.ts";

const TESTS = `Deno.test("holds", async (t) => {
  console.log("reported after 12 ms\\nreported after 30 ms");
  await t.step("body one", () => {});
  await t.step("body two", () => {});
});
Deno.test("leaves a part out", () => {
  console.log("skipped: no clock\\nskipped: no clock");
});
Deno.test("breaks", () => {
  throw new Error("broken");
});
`;

Deno.test("prove: a claim is shown by its tests, with its figure; a failing or absent test breaks it [cli-prove]", async () => {
  await using sandbox = await makeSandbox();
  const file = `${sandbox.root}/claim_test.ts`;
  await Deno.writeTextFile(file, TESTS);
  const run = (filter: string, more: Partial<Claim> = {}): ReturnType<typeof runClaim> =>
    runClaim({ text: "it works", tests: { files: [file], filter }, ...more }, CHECKOUT);
  const count = { bodies: /body \w+ \.\.\. ok/g };
  const quote = { part: /^reported after (\d+) ms$/gm, as: "$1 milliseconds" };
  const shown = await run("holds", { count });
  assert.match(shown.line, /^✓ it works: bodies 2, \d+\.\d s$/);
  const quoted = await run("holds", { count, quote });
  assert.match(quoted.line, /^✓ it works: bodies 2, 12 milliseconds, 30 milliseconds, \d+\.\d s$/);
  assert.match((await run("holds", { quote: { part: /absent/g, as: "" } })).line, /: no figure, /);
  assert.match((await run("holds")).line, /^✓ it works: 1 tests, /);
  const skipped = await run("leaves a part out");
  assert.ok(!skipped.isShown);
  assert.match(skipped.line, /^✗ it works: 1 tests, \d+\.\d s; skipped: no clock$/);
  const broken = await run("breaks");
  assert.ok(!broken.isShown && broken.line.startsWith("✗ it works: "));
  assert.ok(!(await run("no such test")).isShown);
});

Deno.test("prove: every claim names tests that exist [cli-prove]", async () => {
  for (const claim of Object.values(CLAIMS).flat()) {
    for (const file of claim.tests?.files ?? []) await Deno.stat(`${CHECKOUT}${file}`);
    assert.ok(claim.tests !== undefined || claim.task !== undefined, claim.text);
  }
});

Deno.test("prove: --only runs the claims whose text contains one of its parts [cli-prove]", () => {
  const claims = ["kill -9 of the relay", "kill -9 of the listener", "a full disk"].map((text) => ({ text }));
  const selected = (...parts: string[]): string[] => selectClaims(claims, parts).map(({ text }) => text);
  assert.equal(selected().length, 3);
  assert.deepEqual(selected("the relay", "disk"), ["kill -9 of the relay", "a full disk"]);
  assert.deepEqual(selected("no such claim"), []);
});
