/** Runs the steps of the gate and counts the tests in them. */
import { statfs } from "node:fs/promises";

export interface Step {
  name: string;
  /** Arguments of `deno`. */
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** The longest it may take, in milliseconds. */
  limitMs?: number;
}

export interface Outcome {
  step: Step;
  isOk: boolean;
  seconds: number;
  passed: number;
  failed: number;
  output: string;
}

/** How many steps run at a time: tests mostly wait, for a process or for a delay of the product. */
const LANES = 2;

/** The longest a step without a limit of its own may take, in milliseconds; a safety net for tests that hang. */
const STEP_LIMIT_MS = 20 * 60_000;

/** Counts in what `deno test` prints last: `ok | 12 passed (3 steps) | 0 failed (1s)`. */
export function countTests(output: string): { passed: number; failed: number } {
  const summaries = [...output.matchAll(/^(?:ok|FAILED) \| (\d+) passed.*?\| (\d+) failed/gm)];
  const total = (group: 1 | 2): number => summaries.reduce((sum, found) => sum + Number(found[group]), 0);
  return { passed: total(1), failed: total(2) };
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

/** Runs one step to its end; a step that fails without a test's failure counts as one. */
export async function runStep(step: Step, cwd: string): Promise<Outcome> {
  const begun = performance.now();
  const child = new Deno.Command(Deno.execPath(), {
    args: [...step.args],
    cwd,
    env: { ...cleanEnvironment(), ...step.env },
    clearEnv: true,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const limit = setTimeout(() => child.kill("SIGKILL"), step.limitMs ?? STEP_LIMIT_MS);
  const { success, stdout, stderr } = await child.output();
  clearTimeout(limit);
  const output = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("");
  const { passed, failed } = countTests(output);
  const seconds = (performance.now() - begun) / 1000;
  return { step, isOk: success, seconds, passed, failed: success ? failed : Math.max(failed, 1), output };
}

export interface RunOptions {
  cwd: string;
  /** Without it no further step starts after a failed one; one that runs is not ended. */
  keepGoing: boolean;
  onOutcome(outcome: Outcome): void;
}

/** Runs the steps, each as soon as a lane is free. */
export async function runSteps(
  steps: readonly Step[],
  { cwd, keepGoing, onOutcome }: RunOptions,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const left = [...steps];
  const lane = async (): Promise<void> => {
    for (let step = left.shift(); step !== undefined; step = left.shift()) {
      const outcome = await runStep(step, cwd);
      outcomes.push(outcome);
      onOutcome(outcome);
      if (!outcome.isOk && !keepGoing) left.length = 0;
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return outcomes;
}

export function sum(outcomes: readonly Outcome[]): { passed: number; failed: number } {
  return {
    passed: outcomes.reduce((total, { passed }) => total + passed, 0),
    failed: outcomes.reduce((total, { failed }) => total + failed, 0),
  };
}
