/** The gate: runs every check that a change must pass and prints one line per step. */

import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startBusy } from "./busy.ts";
import { prepare } from "./prepare.ts";
import { say, write } from "./say.ts";
import {
  countText,
  failureText,
  memoryFolder,
  type Outcome,
  runSteps,
  type Step,
  sum,
  type TemporaryFolder,
} from "./steps.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** How many test files run at a time when each starts relays, listeners and tmux, or Chromium. */
const E2E_JOBS = "4";
const PHONE_JOBS = "3";

/** These take longest, so they start first. */
const LONG_UNIT = ["tests/unit/relay/access_test.ts"];
const LONG_E2E = ["verify_broken", "hostile_relay", "mirror_cells", "crash_listener"].map((name) =>
  `tests/e2e/${name}_test.ts`
);
const LONG_PHONE = ["card", "ask", "sign_in", "broken_link"].map((name) => `tests/phone/${name}_test.ts`);

/** These kill processes for minutes and run in `deno task test:faults`. */
const APART = "--ignore=tests/e2e/faults_*_test.ts";

/** The folders that `mod.ts` exports from. */
const DOCUMENTED = ["client", "crypto", "library", "protocol"].map((folder) => `src/${folder}`);

/** Types are checked once, in a separate step. */
const TEST = ["test", "-A", "--no-check", "--permit-no-files"];

async function rootTests(): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(`${root}tests`));
  return entries.map(({ name }) => name).filter((name) => name.endsWith("_test.ts")).sort();
}

async function steps(memory: TemporaryFolder | undefined): Promise<Step[]> {
  const inMemory = memory === undefined ? {} : { env: { TMPDIR: memory.path } };
  const ofTheTree = (await rootTests()).map((file) => ({
    name: file.replace("_test.ts", "").replaceAll("_", " "),
    args: [...TEST, `tests/${file}`],
    limitMinutes: 15,
  }));
  return [
    { name: "format", args: ["fmt", "--check"], limitMinutes: 10 },
    { name: "lint", args: ["lint"], limitMinutes: 10 },
    { name: "types", args: ["check", "--quiet", "."], limitMinutes: 15 },
    ...ofTheTree,
    { name: "examples", args: [...TEST, "--doc", "mod.ts", ...DOCUMENTED], limitMinutes: 15 },
    {
      name: "unit",
      args: [...TEST, "--parallel", ...LONG_UNIT, "tests/unit"],
      ...inMemory,
      limitMinutes: 30,
    },
    { name: "contract", args: [...TEST, "--parallel", "tests/contract"], limitMinutes: 45 },
    { name: "fuzz", args: [...TEST, "--parallel", "tests/fuzz"], limitMinutes: 30 },
    {
      name: "e2e",
      args: [...TEST, "--parallel", APART, ...LONG_E2E, "tests/e2e"],
      env: { DENO_JOBS: E2E_JOBS },
      limitMinutes: 60,
    },
    {
      name: "phone",
      args: [...TEST, "--parallel", ...LONG_PHONE, "tests/phone"],
      env: { DENO_JOBS: PHONE_JOBS },
      limitMinutes: 60,
    },
  ];
}

function report(outcome: Outcome): void {
  const { step, isOk, seconds, output } = outcome;
  const mark = isOk ? "✓" : "✗";
  say(`${mark} ${step.name.padEnd(16)} ${seconds.toFixed(1).padStart(6)} s  ${countText(outcome)}`.trimEnd());
  if (!isOk) write(failureText(output));
}

const USAGE = `Usage: deno task ok [options]

  --keep-going   run the steps after a failed one too
  --only <steps> only these steps, separated by commas: contract,e2e,phone
  --times <n>    run them this often
  --busy <n>     beside this many busy loops`;

interface Options {
  keepGoing: boolean;
  only: string[] | undefined;
  times: number;
  busy: number;
}

/** Parses a count; throws an Error that names the accepted values. */
function count(option: string, text: string, { least }: { least: number }): number {
  if (/^\d{1,4}$/.test(text) && Number(text) >= least) return Number(text);
  throw new Error(`Cannot use "--${option} ${text}": it takes a whole number from ${least} to 9999.`);
}

/** Returns the options, or the exit code if nothing should run. */
function readOptions(): Options | number {
  try {
    const { values } = parseArgs({
      args: Deno.args,
      options: {
        "keep-going": { type: "boolean", default: false },
        only: { type: "string" },
        times: { type: "string", default: "1" },
        busy: { type: "string", default: "0" },
        help: { type: "boolean" },
      },
    });
    if (values.help) {
      say(USAGE);
      return 0;
    }
    return {
      keepGoing: values["keep-going"],
      only: values.only?.split(","),
      times: count("times", values.times, { least: 1 }),
      busy: count("busy", values.busy, { least: 0 }),
    };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    say(`${error.message}\n\n${USAGE}`);
    return 2;
  }
}

/**
 * Aborts on a signal that ends programs, so that everything the steps started (tmux servers, browsers) ends with them.
 */
function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    Deno.addSignalListener(name, () => stop.abort());
  }
  return stop.signal;
}

async function main(): Promise<number> {
  const options = readOptions();
  if (typeof options === "number") return options;
  const begun = performance.now();
  if (!await prepare("tests")) return 1;
  const elapsed = (): number => (performance.now() - begun) / 1_000;
  say(`✓ ${"prepare".padEnd(16)} ${elapsed().toFixed(1).padStart(6)} s`);
  await using memory = await memoryFolder();
  const all = await steps(memory);
  const unknown = options.only?.find((name) => !all.some((step) => step.name === name));
  if (unknown !== undefined) {
    say(`Cannot run the step "${unknown}": the steps are ${all.map(({ name }) => name).join(", ")}.`);
    return 2;
  }
  const wanted = all.filter(({ name }) => options.only?.includes(name) ?? true);
  await using _busy = startBusy(options.busy);
  const outcomes: Outcome[] = [];
  const stop = stopSignal();
  const { keepGoing } = options;
  const onOutcome = (outcome: Outcome): void => stop.aborted ? undefined : report(outcome);
  for (let run = 1; run <= options.times && !stop.aborted; run++) {
    if (options.times > 1) say(`run ${run} of ${options.times}, minute ${Math.round(elapsed() / 60)}`);
    outcomes.push(...await runSteps(wanted, { cwd: root, keepGoing, onOutcome, stop }));
  }
  if (stop.aborted) {
    say("Stopped by a signal, before all steps had ended: what they had started was ended too.");
    return 1;
  }
  const { passed, failed } = sum(outcomes);
  const cutOff = outcomes.filter(({ isCutOff }) => isCutOff).length;
  say(`${passed} passed, ${failed} failed${cutOff === 0 ? "" : `, ${cutOff} steps cut off at their limit`}`);
  return outcomes.every(({ isOk }) => isOk) ? 0 : 1;
}

Deno.exit(await main());
