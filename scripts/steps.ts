/** Runs the steps of the gate and counts the tests in them. */
import { statfs } from "node:fs/promises";
import { endStep, STEP_VARIABLE } from "./step_processes.ts";

export interface Step {
  name: string;
  /** Arguments of `deno`. */
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** The longest it may take on a busy machine: a safety net for tests that hang. */
  limitMinutes: number;
}

export interface Outcome {
  step: Step;
  isOk: boolean;
  /** It was ended at its limit; the tests that had not ended by then are not counted. */
  isCutOff: boolean;
  seconds: number;
  passed: number;
  failed: number;
  output: string;
}

/** How many steps run at a time: tests mostly wait, for a process or for a delay of the product. */
const LANES = 2;

const MINUTE_MS = 60_000;

/** How long a step that is cut off may take to say which tests had not ended, in milliseconds. */
const GRACE_MS = 10_000;

interface Counts {
  passed: number;
  failed: number;
}

/** Counts in what `deno test` prints last: `ok | 12 passed (3 steps) | 0 failed (1s)`. */
export function countTests(output: string): Counts {
  const summaries = [...output.matchAll(/^(?:ok|FAILED) \| (\d+) passed.*?\| (\d+) failed/gm)];
  const total = (group: 1 | 2): number => summaries.reduce((sum, found) => sum + Number(found[group]), 0);
  return { passed: total(1), failed: total(2) };
}

/** Counts the lines of single tests, without their steps: `deno test` prints no summary when it is cut off. */
export function countLines(output: string): Counts {
  const tests = /^(?! )(?:(?!\.\.\. ).)*\.\.\. (ok|FAILED) \(\d/gm;
  const ends = [...output.matchAll(tests)].map(([, end]) => end);
  const passed = ends.filter((end) => end === "ok").length;
  return { passed, failed: ends.length - passed };
}

/** Without what `deno test` puts into the line of a test that takes long: `'<name>' has been running for over (1m0s)`. */
export function withoutSlowNotes(output: string): string {
  return output.replace(/'[^\n]*' has been running for over \([^)\n]*\)\n/g, "");
}

/** `12 passed, 0 failed`, and that a step was cut off at its limit; empty for a step without tests. */
export function countText({ step, passed, failed, isCutOff }: Outcome): string {
  const counts = isCutOff || passed + failed > 0 ? [`${passed} passed`, `${failed} failed`] : [];
  const limit = `cut off at its limit of ${step.limitMinutes} minutes, before the other tests had ended`;
  return [...counts, ...isCutOff ? [limit] : []].join(", ");
}

/** The output of a failed step from its failures on, without the tests that passed. */
export function failureText(output: string): string {
  const errors = output.indexOf("\n ERRORS \n");
  return errors < 0 ? output : output.slice(errors);
}

/** A developer's own session and svc settings must not reach the tests. */
function cleanEnvironment(): Record<string, string> {
  const isOurs = (name: string): boolean => /^(TMUX.*|SVC_.*|NO_COLOR|FORCE_COLOR)$/.test(name);
  const kept = Object.entries(Deno.env.toObject()).filter(([name]) => !isOurs(name));
  return { ...Object.fromEntries(kept), NO_COLOR: "1" };
}

/** Where Linux keeps files in memory, and how many bytes must be free there. */
const MEMORY = "/dev/shm";
const MEMORY_FREE_BYTES = 2 * 1024 ** 3;

export interface TemporaryFolder extends AsyncDisposable {
  path: string;
}

/**
 * A folder in memory for the tests' temporary files, as they would otherwise spend their time on flushing files to a
 * disk; removed at its end. Undefined where there is no such file system, little room, or no program may run from it.
 */
export async function memoryFolder(mounts = "/proc/mounts"): Promise<TemporaryFolder | undefined> {
  const lines = (await Deno.readTextFile(mounts).catch(() => "")).split("\n").map((line) => line.split(" "));
  const [, , type, options = ""] = lines.findLast(([, mountPoint]) => mountPoint === MEMORY) ?? [];
  if (type !== "tmpfs" || options.split(",").includes("noexec")) return undefined;
  const { bavail, bsize } = await statfs(MEMORY).catch(() => ({ bavail: 0, bsize: 0 }));
  if (bavail * bsize < MEMORY_FREE_BYTES) return undefined;
  const path = await Deno.makeTempDir({ dir: MEMORY, prefix: "svc-ok-" });
  // Like /tmp: some tests run programs of another account.
  await Deno.chmod(path, 0o1777);
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

/**
 * Runs one step to its end, or ends it at its limit with all that it started. A step that fails without a test's failure
 * counts as one.
 * @param cutOff ends it as its limit does
 */
export async function runStep(
  step: Step,
  cwd: string,
  { cutOff }: { cutOff?: AbortSignal } = {},
): Promise<Outcome> {
  const begun = performance.now();
  const mark = crypto.randomUUID();
  const marks = `${Deno.env.get(STEP_VARIABLE) ?? ""} ${mark}`;
  const child = new Deno.Command(Deno.execPath(), {
    args: [...step.args],
    cwd,
    env: { ...cleanEnvironment(), ...step.env, [STEP_VARIABLE]: marks },
    clearEnv: true,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let ending: Promise<void> | undefined;
  const end = (): void => void (ending ??= endStep(child, { mark, graceMs: GRACE_MS }));
  const limit = setTimeout(end, step.limitMinutes * MINUTE_MS);
  cutOff?.addEventListener("abort", end, { once: true });
  const { success, stdout, stderr } = await child.output();
  clearTimeout(limit);
  cutOff?.removeEventListener("abort", end);
  await ending;
  const isCutOff = ending !== undefined;
  const output = withoutSlowNotes([stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join(""));
  const { passed, failed } = isCutOff ? countLines(output) : countTests(output);
  const isOk = success && !isCutOff;
  const seconds = (performance.now() - begun) / 1000;
  return {
    step,
    isOk,
    isCutOff,
    seconds,
    passed,
    failed: isOk || isCutOff ? failed : Math.max(failed, 1),
    output,
  };
}

export interface RunOptions {
  cwd: string;
  /** Without it no further step starts after a failed one; one that runs is not ended. */
  keepGoing: boolean;
  onOutcome(outcome: Outcome): void;
  /** Ends the steps that run, with all that they started; no further one starts. */
  stop?: AbortSignal | undefined;
}

/** Runs the steps, each as soon as a lane is free. */
export async function runSteps(
  steps: readonly Step[],
  { cwd, keepGoing, onOutcome, stop }: RunOptions,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const left = [...steps];
  const lane = async (): Promise<void> => {
    for (let step = left.shift(); step !== undefined && !stop?.aborted; step = left.shift()) {
      const outcome = await runStep(step, cwd, stop && { cutOff: stop });
      outcomes.push(outcome);
      onOutcome(outcome);
      if (!outcome.isOk && !keepGoing) left.length = 0;
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return outcomes;
}

export function sum(outcomes: readonly Outcome[]): Counts {
  return {
    passed: outcomes.reduce((total, { passed }) => total + passed, 0),
    failed: outcomes.reduce((total, { failed }) => total + failed, 0),
  };
}
