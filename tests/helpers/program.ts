/** Runs the real program, as a person's shell would, in a sandbox's environment. */
import { CHECKOUT } from "./sources.ts";
import type { Sandbox } from "./sandbox.ts";

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

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  launch?: Launch;
  cwd?: string;
  env?: Record<string, string>;
  stdin?: string;
}

function command(sandbox: Sandbox, words: readonly string[], options: RunOptions): Deno.Command {
  const [program = "", ...args] = [...options.launch ?? FROM_CHECKOUT, ...words];
  return new Deno.Command(program, {
    args,
    cwd: options.cwd ?? sandbox.project,
    env: { ...sandbox.env, ...options.env },
    clearEnv: true,
    stdin: options.stdin === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
  });
}

/** Runs `svc <words>` to its end. */
export async function runSvc(
  sandbox: Sandbox,
  words: readonly string[],
  options: RunOptions = {},
): Promise<Ran> {
  const child = command(sandbox, words, options).spawn();
  if (options.stdin !== undefined) {
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(options.stdin));
    await writer.close();
  }
  const { code, stdout, stderr } = await child.output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

/** A net under a program that never says what is awaited, no measure of speed. */
const LINE_LIMIT_MS = 60_000;

/** A running `svc <words>` whose lines can be awaited. */
export interface Started {
  pid: number;
  /** Everything printed so far, both streams. */
  output(): string;
  /** The first line printed that matches; throws with the output when the program ends without one. */
  line(pattern: RegExp): Promise<RegExpExecArray>;
  /** Does nothing once it has ended. */
  kill(signal: Deno.Signal): void;
  exited: Promise<Deno.CommandStatus>;
}

export function startSvc(sandbox: Sandbox, words: readonly string[], options: RunOptions = {}): Started {
  const child = command(sandbox, words, options).spawn();
  sandbox.killAtEnd(child.pid);
  let text = "";
  let ended = false;
  const waiting = new Set<() => void>();
  const read = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      text += decoder.decode(chunk, { stream: true });
      for (const look of [...waiting]) look();
    }
  };
  const reading = Promise.all([read(child.stdout), read(child.stderr)]);
  const exited = (async () => {
    const status = await child.status;
    await reading;
    ended = true;
    for (const look of [...waiting]) look();
    return status;
  })();
  sandbox.awaitAtEnd(exited);
  return {
    pid: child.pid,
    output: () => text,
    line: (pattern) =>
      new Promise((resolve, reject) => {
        const what = `svc ${words.join(" ")}`;
        const look = (isLate = false): void => {
          const found = text.split("\n").map((line) => pattern.exec(line)).find((match) => match !== null);
          if (!found && !ended && !isLate) return;
          waiting.delete(look);
          clearTimeout(limit);
          if (found) resolve(found);
          else reject(new Error(`${what} ${isLate ? "goes on" : "ended"} without ${pattern}:\n${text}`));
        };
        const limit = setTimeout(() => look(true), LINE_LIMIT_MS);
        waiting.add(look);
        look();
      }),
    kill: (signal) => {
      if (!ended) child.kill(signal);
    },
    exited,
  };
}
