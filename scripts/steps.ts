/** Runs the steps of the gate and counts the tests in them. */
import { statfs } from "node:fs/promises";
import { endStep, STEP_VARIABLE } from "./step_processes.ts";

export interface Step {
  name: string;
  /** Arguments for `deno`. */
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** A safety limit for hanging tests, generous enough for a busy machine. */
  limitMinutes: number;
}

export interface Outcome {
  step: Step;
  isOk: boolean;
  /** Ended at its limit; its unfinished tests are not counted. */
  isCutOff: boolean;
  seconds: number;
  passed: number;
  failed: number;
  output: string;
}

/** How many steps run at a time: tests mostly wait, for a process or for a delay in svc. */
const LANES = 2;

const MINUTE_MS = 60_000;

/** Time for a step that is cut off to name its unfinished tests, in milliseconds. */
const GRACE_MS = 10_000;

interface Counts {
  passed: number;
  failed: number;
}

/** Counts from the summary of `deno test`: `ok | 12 passed (3 steps) | 0 failed (1s)`. */
export function countTests(output: string): Counts {
  const summaries = [...output.matchAll(/^(?:ok|FAILED) \| (\d+) passed.*?\| (\d+) failed/gm)];
  const total = (group: 1 | 2): number => summaries.reduce((sum, found) => sum + Number(found[group]), 0);
  return { passed: total(1), failed: total(2) };
}

/** Counts the lines of single tests, without their steps, for a run that was cut off before its summary. */
export function countLines(output: string): Counts {
  const tests = /^(?! )(?:(?!\.\.\. ).)*\.\.\. (ok|FAILED) \(\d/gm;
  const ends = [...output.matchAll(tests)].map(([, end]) => end);
  const passed = ends.filter((end) => end === "ok").length;
  return { passed, failed: ends.length - passed };
}

/** Removes what `deno test` inserts into the line of a slow test: `'<name>' has been running for over (1m0s)`. */
export function withoutSlowNotes(output: string): string {
  return output.replace(/'[^\n]*' has been running for over \([^)\n]*\)\n/g, "");
}

/** Formats `12 passed, 0 failed`, and whether the step was cut off at its limit; empty for a step without tests. */
export function countText({ step, passed, failed, isCutOff }: Outcome): string {
  const counts = isCutOff || passed + failed > 0 ? [`${passed} passed`, `${failed} failed`] : [];
  const limit = `cut off at its limit of ${step.limitMinutes} minutes, before the other tests had ended`;
  return [...counts, ...isCutOff ? [limit] : []].join(", ");
}

/** Returns a failed step's output from its failures on. */
export function failureText(output: string): string {
  const errors = output.indexOf("\n ERRORS \n");
  return errors < 0 ? output : output.slice(errors);
}

/** Removes a developer's own session and svc settings, which must not reach the tests. */
function cleanEnvironment(): Record<string, string> {
  const isOurs = (name: string): boolean => /^(TMUX.*|SVC_.*|NO_COLOR|FORCE_COLOR)$/.test(name);
  const kept = Object.entries(Deno.env.toObject()).filter(([name]) => !isOurs(name));
  return { ...Object.fromEntries(kept), NO_COLOR: "1" };
}

/** The folder that Linux keeps in memory, and the free bytes it must have. */
const MEMORY = "/dev/shm";
const MEMORY_FREE_BYTES = 2 * 1024 ** 3;

export interface TemporaryFolder extends AsyncDisposable {
  path: string;
}

/**
 * Makes a folder in memory for the tests' temporary files, because flushing files to a disk would take most of their
 * time; removed when disposed. Undefined if there is no such file system, it has little room, or it allows no
 * programs.
 */
export async function memoryFolder(mounts = "/proc/mounts"): Promise<TemporaryFolder | undefined> {
  const lines = (await Deno.readTextFile(mounts).catch(() => "")).split("\n").map((line) => line.split(" "));
  const [, , type, options = ""] = lines.findLast(([, mountPoint]) => mountPoint === MEMORY) ?? [];
  if (type !== "tmpfs" || options.split(",").includes("noexec")) return undefined;
  const { bavail, bsize } = await statfs(MEMORY).catch(() => ({ bavail: 0, bsize: 0 }));
  if (bavail * bsize < MEMORY_FREE_BYTES) return undefined;
  const path = await Deno.makeTempDir({ dir: MEMORY, prefix: "svc-ok-" });
  // As in /tmp: some tests run programs as another account.
  await Deno.chmod(path, 0o1777);
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

/**
 * Runs one step to its end, or ends it and everything it started at its limit. A step that fails without a failed
 * test counts as one failure.
 * @param cutOff ends the step as its limit does
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
  /** If false, no further step starts after a failure; running ones finish. */
  keepGoing: boolean;
  onOutcome(outcome: Outcome): void;
  /** Ends the running steps and everything they started; no further one starts. */
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
