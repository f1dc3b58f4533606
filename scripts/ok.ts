/** The gate: everything a change must pass, one line a step. `--keep-going` runs the steps after a failed one too. */

import { prepare } from "./prepare.ts";
import { say, write } from "./say.ts";
import { failureText, type Outcome, runStep, type Step, sum } from "./steps.ts";

const root = new URL("..", import.meta.url).pathname;

/** How many end-to-end files run at a time: each starts relays, listeners and tmux servers of its own. */
const E2E_JOBS = "2";

/** Types are checked once, in a step of their own. */
const TEST = ["test", "-A", "--no-check", "--permit-no-files"];

async function rootTests(): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(`${root}tests`));
  return entries.map(({ name }) => name).filter((name) => name.endsWith("_test.ts")).sort();
}

async function steps(): Promise<Step[]> {
  const ofTheTree = (await rootTests()).map((file) => ({
    name: file.replace("_test.ts", "").replaceAll("_", " "),
    args: [...TEST, `tests/${file}`],
  }));
  return [
    { name: "format", args: ["fmt", "--check"] },
    { name: "lint", args: ["lint"] },
    { name: "types", args: ["check", "--quiet", "."] },
    ...ofTheTree,
    { name: "examples", args: [...TEST, "--doc", "mod.ts"] },
    { name: "unit", args: [...TEST, "--parallel", "tests/unit"] },
    { name: "contract", args: [...TEST, "--parallel", "tests/contract"] },
    { name: "e2e", args: [...TEST, "--parallel", "tests/e2e"], env: { DENO_JOBS: E2E_JOBS } },
    { name: "phone", args: [...TEST, "tests/phone"] },
  ];
}

function report(outcome: Outcome): void {
  const { step, isOk, seconds, passed, failed, output } = outcome;
  const counts = passed + failed === 0 ? "" : `  ${passed} passed, ${failed} failed`;
  say(`${isOk ? "✓" : "✗"} ${step.name.padEnd(16)} ${seconds.toFixed(1).padStart(6)} s${counts}`);
  if (!isOk) write(failureText(output));
}

async function main(): Promise<number> {
  const begun = performance.now();
  if (!await prepare("tests")) return 1;
  say(`✓ ${"prepare".padEnd(16)} ${((performance.now() - begun) / 1000).toFixed(1).padStart(6)} s`);
  const keepGoing = Deno.args.includes("--keep-going");
  const outcomes: Outcome[] = [];
  for (const step of await steps()) {
    const outcome = await runStep(step, root);
    outcomes.push(outcome);
    report(outcome);
    if (!outcome.isOk && !keepGoing) break;
  }
  const { passed, failed } = sum(outcomes);
  say(`${passed} passed, ${failed} failed`);
  return outcomes.every(({ isOk }) => isOk) ? 0 : 1;
}

Deno.exit(await main());
