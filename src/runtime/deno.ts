/** The runtime on Deno. Nothing here loads a `node:` module at start: each costs 10 to 20 ms. */
import { files, keepProxiesOut, runtime as lean } from "./deno_lean.ts";
import { failedStart, findProgram, KILLED_CODE, processStates, suspendWith } from "./processes.ts";
import { codeOf, lanAddressAmong, unless } from "./system.ts";
import type { Commands, EmbeddedFiles, PipedChild, RunOptions, RunResult, Runtime, Signal } from "./types.ts";
import { encodeUtf8 } from "../async/encodings.ts";

interface Place {
  cwd?: string;
  env?: Record<string, string>;
}

function command(argv: readonly string[], place: Place, stdio: Deno.CommandOptions): Deno.Command {
  const [program = "", ...args] = argv;
  const cwd = place.cwd ?? folderInstead();
  return new Deno.Command(program, { ...stdio, args, ...place, cwd, clearEnv: place.env !== undefined });
}

/** Deno, unlike Node, starts nothing from a folder that was deleted, such as a worktree in which svc was started. */
function folderInstead(): string | undefined {
  try {
    Deno.cwd();
    return undefined;
  } catch {
    return "/";
  }
}

async function collect(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  signal?: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const reader = stream.getReader();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const stop = (): void => void reader.cancel();
  signal?.addEventListener("abort", stop);
  for (let next = await reader.read(); !next.done; next = await reader.read()) chunks.push(next.value);
  signal?.removeEventListener("abort", stop);
  return chunks.length === 1 && chunks[0] ? chunks[0] : await new Blob(chunks).bytes();
}

/** A child may exit without reading its input. */
async function feed(child: Deno.ChildProcess, input: string | Uint8Array | undefined): Promise<void> {
  if (input === undefined) return;
  const bytes = typeof input === "string" ? encodeUtf8(input) : new Uint8Array(input);
  const writer = child.stdin.getWriter();
  await unless(["EPIPE"], writer.write(bytes).then(() => writer.close()), undefined);
}

async function finish(child: Deno.ChildProcess, options: RunOptions): Promise<RunResult> {
  const kill = (): void => signalChild(child, "SIGKILL");
  options.signal?.addEventListener("abort", kill);
  try {
    const [stdout, stderr, status] = await Promise.all([
      collect(child.stdout, options.signal),
      collect(child.stderr, options.signal),
      child.status,
      feed(child, options.stdin),
    ]);
    return { code: status.code, stdout, stderr: new TextDecoder().decode(stderr) };
  } finally {
    options.signal?.removeEventListener("abort", kill);
  }
}

async function run(argv: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const { cwd, env, stdin, signal } = options;
  if (signal?.aborted) return { code: KILLED_CODE, stdout: new Uint8Array(), stderr: "" };
  let child: Deno.ChildProcess;
  try {
    child = command(argv, { cwd, env }, {
      stdin: stdin === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
  } catch (error) {
    return failedStart(argv, error);
  }
  return await finish(child, options);
}

/**
 * Resolves once every signal received so far has reached its listeners. Deno delivers signals on another thread, in
 * order, and a signal without a listener ends the process; SIGURG is ignored by default. Two rounds, because a signal may
 * arrive in the middle of the thread's round.
 */
async function signalsHandled(): Promise<void> {
  // A signal listener does not keep the event loop running; a timer does.
  const keepAlive = setInterval(() => {}, 1_000);
  try {
    for (let round = 0; round < 2; round++) {
      const { promise, resolve } = Promise.withResolvers<void>();
      Deno.addSignalListener("SIGURG", resolve);
      Deno.kill(Deno.pid, "SIGURG");
      await promise;
      Deno.removeSignalListener("SIGURG", resolve);
    }
  } finally {
    clearInterval(keepAlive);
  }
}

/**
 * Ignores SIGINT and SIGQUIT, which the terminal also sends to the child: the child decides. The handlers are installed
 * before the child starts, because a key may be pressed at once.
 */
async function runInherited(argv: readonly string[], place: Place = {}): Promise<number> {
  let child: Deno.ChildProcess | undefined;
  const pass = (signal: Signal) => (): void => void (child && signalChild(child, signal));
  const handlers: [Deno.Signal, () => void][] = [
    ["SIGINT", () => {}],
    ["SIGQUIT", () => {}],
    ["SIGTERM", pass("SIGTERM")],
    ["SIGHUP", pass("SIGHUP")],
    [
      "SIGCHLD",
      suspendWith(
        () => child !== undefined && isStopped(child.pid),
        () => void Deno.kill(0, "SIGTSTP"),
        Deno.build.os,
      ),
    ],
  ];
  for (const [signal, handler] of handlers) Deno.addSignalListener(signal, handler);
  try {
    child = command(argv, place, { stdin: "inherit", stdout: "inherit", stderr: "inherit" }).spawn();
    const { code } = await child.status;
    await signalsHandled();
    return code;
  } catch (error) {
    return failedStart(argv, error).code;
  } finally {
    for (const [signal, handler] of handlers) Deno.removeSignalListener(signal, handler);
  }
}

function signalChild(child: Deno.ChildProcess, signal: Signal): void {
  try {
    child.kill(signal);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

/** Deno throws a TypeError for a child that has exited and been waited for. */
function isGone(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound || error instanceof TypeError || codeOf(error) === "ESRCH";
}

function pipe(argv: readonly string[], place: Place = {}): PipedChild {
  const child = command(argv, place, { stdin: "piped", stdout: "piped", stderr: "piped" }).spawn();
  const writer = child.stdin.getWriter();
  writer.closed.catch(() => {});
  return {
    pid: child.pid,
    stdin: {
      write: (bytes) => writer.write(new Uint8Array(bytes)),
      close: () => void writer.close().catch(() => {}),
    },
    stdout: child.stdout,
    stderr: child.stderr,
    kill: (signal = "SIGTERM") => signalChild(child, signal),
    exited: child.status.then((status) => status.code),
  };
}

const { lives, isStopped } = processStates({
  platform: Deno.build.os,
  uid: () => Deno.uid() ?? -1,
  read: (path) => Deno.readTextFileSync(path),
  ps(pid) {
    const ps = new Deno.Command("ps", { args: ["-o", "uid=,stat=", "-p", String(pid)], stderr: "null" });
    return new TextDecoder().decode(ps.outputSync().stdout);
  },
});

/** Refuses 0 and negative numbers: kill(2) takes them as process groups. */
function kill(pid: number, signal: Signal | 0): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  if (signal === 0) return lives(pid);
  try {
    Deno.kill(pid, signal);
    return true;
  } catch (error) {
    if (isGone(error) || codeOf(error) === "EPERM") return false;
    throw error;
  }
}

const loadDetached = (): Promise<typeof import("./detached.ts")> => import("./detached.ts");

const commands: Commands = {
  run,
  runInherited,
  pipe,
  async spawnDetached(argv, options) {
    return await (await loadDetached()).spawnDetached(argv, options);
  },
  kill,
  which: (program) => findProgram(program, Deno.env.get("PATH"), files.isExecutable),
};

/** The `cli.ts` that is running; in a test, the one of this checkout. */
function programUrl(): URL {
  const main = new URL(Deno.mainModule);
  const isProgram = main.protocol === "file:" && main.pathname.endsWith("/cli.ts");
  return isProgram ? main : new URL("../../cli.ts", import.meta.url);
}

function selfCommand(): string[] {
  if (Deno.build.standalone) return [Deno.execPath()];
  const program = programUrl();
  const path = (url: URL): string => decodeURIComponent(url.pathname);
  const config = path(new URL("deno.json", program));
  return [Deno.execPath(), "run", "-A", "--quiet", "--config", config, path(program)];
}

/** The files inside a compiled program, which no other program can open; undefined otherwise. */
function embedded(): EmbeddedFiles | undefined {
  if (!Deno.build.standalone) return undefined;
  const root = decodeURIComponent(new URL("../../", import.meta.url).pathname);
  const under = async (folder: string): Promise<string[]> => {
    const entries = await Array.fromAsync(Deno.readDir(root + folder));
    const found = entries.map(({ name, isDirectory }) =>
      isDirectory ? under(`${folder}/${name}`) : Promise.resolve([`${folder}/${name}`])
    );
    return (await Promise.all(found)).flat();
  };
  return {
    names: async () => (await Promise.all(["dist/phone", "plugin"].map(under))).flat(),
    read: (name) => Deno.readFile(root + name),
  };
}

function onSignal(signal: Signal, handler: () => void): () => void {
  Deno.addSignalListener(signal, handler);
  return () => Deno.removeSignalListener(signal, handler);
}

export const runtime: Runtime = {
  ...lean,
  name: "deno",
  version: Deno.version.deno,
  pid: Deno.pid,
  platform: Deno.build.os,
  hostname: () => Deno.hostname(),
  lanAddress: () => lanAddressAmong(Deno.networkInterfaces()),
  cwd: () => Deno.cwd(),
  commands,
  selfCommand,
  embedded,
  followProxies: keepProxiesOut,
  onSignal,
  memoryBytes: () => Deno.memoryUsage().rss,
};
