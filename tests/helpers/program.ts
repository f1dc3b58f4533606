/** Runs the real program as a user's shell would, in a sandbox's environment. */
import { shellLine } from "../../src/runtime/system.ts";
import { type Ran, run } from "./run.ts";
import type { Sandbox } from "./sandbox.ts";
import { CHECKOUT } from "./sources.ts";
import { SAFETY_LIMIT_MS } from "./until.ts";

/** argv that starts svc: from the checkout on Deno, or a built package's `cli.js` on Node. */
export type Launch = readonly string[];

export const FROM_CHECKOUT: Launch = [
  Deno.execPath(),
  "run",
  "-A",
  "--quiet",
  "--no-check",
  "--config",
  `${CHECKOUT}deno.json`,
  `${CHECKOUT}cli.ts`,
];

const named = Deno.env.get("SVC_TEST_LAUNCH");

/**
 * The svc that tests start: this checkout's, or the one that `SVC_TEST_LAUNCH` names, such as
 * "/path/to/node /path/to/package/cli.js".
 */
export const SVC: Launch = named === undefined ? FROM_CHECKOUT : named.split(" ");

/** `test:node` counts the starts of each test file in this file. */
const startsFile = Deno.env.get("SVC_TEST_STARTS");

function noteStart(launch: Launch): void {
  if (startsFile === undefined || launch !== SVC) return;
  Deno.writeTextFileSync(startsFile, `${Deno.mainModule}\n`, { append: true });
}

/** Returns the command line that starts svc in a shell into which the test types. */
export function svcLine(...args: string[]): string {
  noteStart(SVC);
  return shellLine([...SVC, ...args]);
}

export interface SvcOptions {
  launch?: Launch;
  /** Default: the sandbox's project. */
  cwd?: string;
  /** Added to the sandbox's environment. */
  env?: Record<string, string>;
  stdin?: string;
}

/** Runs `svc <args>` to its end. */
export async function runSvc(
  sandbox: Sandbox,
  args: readonly string[],
  { launch = SVC, cwd = sandbox.project, env, stdin }: SvcOptions = {},
): Promise<Ran> {
  noteStart(launch);
  const before = stdin === undefined ? [] : await givenStdin(sandbox, stdin);
  return await run([...before, ...launch, ...args], { cwd, env: { ...sandbox.env, ...env } });
}

/**
 * Returns the argv prefix that gives a program this input from the start: a hook waits only a second for it, and this
 * process may be busy.
 */
async function givenStdin({ root }: Sandbox, stdin: string): Promise<string[]> {
  const file = `${root}/stdin-${crypto.randomUUID()}`;
  await Deno.writeTextFile(file, stdin);
  return ["/bin/sh", "-c", 'exec "$@" < "$0"', file];
}

/** A running `svc <args>` whose lines can be awaited. */
export interface Started {
  pid: number;
  /** Everything printed so far, both streams. */
  output(): string;
  /** Resolves with the first printed line that matches; throws with the output when the program ends without one. */
  line(pattern: RegExp): Promise<RegExpExecArray>;
  /** Does nothing once the program has ended. */
  kill(signal: Deno.Signal): void;
  exited: Promise<Deno.CommandStatus>;
}

export function startSvc(
  sandbox: Sandbox,
  args: readonly string[],
  { launch = SVC, cwd = sandbox.project, env }: Omit<SvcOptions, "stdin"> = {},
): Started {
  noteStart(launch);
  const [program = "", ...before] = launch;
  const child = new Deno.Command(program, {
    args: [...before, ...args],
    cwd,
    env: { ...sandbox.env, ...env },
    clearEnv: true,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  sandbox.killAtEnd(child.pid);
  let text = "";
  let ended = false;
  const waiting = new Set<() => void>();
  const read = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      text += decoder.decode(chunk, { stream: true });
      for (const check of [...waiting]) check();
    }
  };
  const reading = Promise.all([read(child.stdout), read(child.stderr)]);
  const exited = (async () => {
    const status = await child.status;
    await reading;
    ended = true;
    for (const check of [...waiting]) check();
    return status;
  })();
  sandbox.awaitAtEnd(exited);
  return {
    pid: child.pid,
    output: () => text,
    line: (pattern) =>
      new Promise((resolve, reject) => {
        const what = `svc ${args.join(" ")}`;
        const check = (isLate = false): void => {
          const found = text.split("\n").map((line) => pattern.exec(line)).find((match) => match !== null);
          if (!found && !ended && !isLate) return;
          waiting.delete(check);
          clearTimeout(limit);
          if (found) resolve(found);
          else reject(new Error(`${what} ${isLate ? "still runs" : "ended"} without ${pattern}:\n${text}`));
        };
        const limit = setTimeout(() => check(true), SAFETY_LIMIT_MS);
        waiting.add(check);
        check();
      }),
    kill: (signal) => {
      if (!ended) child.kill(signal);
    },
    exited,
  };
}
