/** The runtime on Node 22 and later, with its child processes. */
import process from "node:process";
import { readFileSync, readlinkSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { constants, hostname, networkInterfaces } from "node:os";
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { env as userEnv, files, runtime as lean } from "./node_lean.ts";
import { codeOf, EMBEDDED_NAMES, hasProxy, lanAddressAmong, nodeProxies, proxyVariables } from "./system.ts";
import type { Commands, EmbeddedFiles, PipedChild, RunOptions, RunResult, Runtime, Signal } from "./types.ts";
import { spawnDetached } from "./detached.ts";
import { exitCode, failedStart, findProgram, KILLED_CODE, processStates, suspendWith } from "./processes.ts";

interface Place {
  cwd?: string;
  env?: Record<string, string>;
}

/** Resolves when the child has started; rejects with the system's code when it could not. */
function started(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => child.once("spawn", resolve).once("error", reject));
}

function ended(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.once(
      "exit",
      (code, signal) => resolve(exitCode(code, signal ? constants.signals[signal] : undefined)),
    );
  });
}

async function collect(stream: Readable, signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  const stop = (): void => void stream.destroy();
  signal?.addEventListener("abort", stop);
  stream.on("data", (chunk: Uint8Array) => void chunks.push(chunk));
  await new Promise((closed) => stream.once("close", closed));
  signal?.removeEventListener("abort", stop);
  return new Uint8Array(Buffer.concat(chunks));
}

/** A child may exit without reading its input. */
function feed(stdin: Writable, input: string | Uint8Array | undefined): void {
  stdin.on("error", () => {});
  stdin.end(input);
}

async function run(argv: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const [program = "", ...args] = argv;
  const { signal, cwd, env } = options;
  if (signal?.aborted) return { code: KILLED_CODE, stdout: new Uint8Array(), stderr: "" };
  const child = spawn(program, args, { cwd, env });
  const start = started(child);
  try {
    // When the process is out of descriptors, the child has no streams either.
    if (child.pid === undefined) await start;
    return await finish(child, start, options);
  } catch (error) {
    return failedStart(argv, error);
  }
}

async function finish(
  child: ChildProcessWithoutNullStreams,
  start: Promise<void>,
  options: RunOptions,
): Promise<RunResult> {
  const kill = (): void => void child.kill("SIGKILL");
  const code = ended(child);
  const output = [collect(child.stdout, options.signal), collect(child.stderr, options.signal)] as const;
  feed(child.stdin, options.stdin);
  options.signal?.addEventListener("abort", kill);
  try {
    await start;
    const [stdout, stderr] = await Promise.all(output);
    return { code: await code, stdout, stderr: new TextDecoder().decode(stderr) };
  } finally {
    options.signal?.removeEventListener("abort", kill);
  }
}

/**
 * Ignores SIGINT and SIGQUIT, which the terminal also sends to the child: the child decides. The handlers are installed
 * before the child starts, because a key may be pressed at once.
 */
async function runInherited(argv: readonly string[], place: Place = {}): Promise<number> {
  const [program = "", ...args] = argv;
  let child: ChildProcess | undefined;
  const handlers: [NodeJS.Signals, () => void][] = [
    ["SIGINT", () => {}],
    ["SIGQUIT", () => {}],
    ["SIGTERM", () => void child?.kill("SIGTERM")],
    ["SIGHUP", () => void child?.kill("SIGHUP")],
    [
      "SIGCHLD",
      suspendWith(
        () => child?.pid !== undefined && isStopped(child.pid),
        () => void process.kill(0, "SIGTSTP"),
        process.platform,
      ),
    ],
  ];
  for (const [signal, handler] of handlers) process.on(signal, handler);
  try {
    child = spawn(program, args, { ...place, stdio: "inherit" });
    const code = ended(child);
    await started(child);
    return await code;
  } catch (error) {
    return failedStart(argv, error).code;
  } finally {
    for (const [signal, handler] of handlers) process.off(signal, handler);
  }
}

function write(stdin: Writable, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stdin.write(bytes, (error) => error ? reject(error) : resolve());
  });
}

function pipe(argv: readonly string[], place: Place = {}): PipedChild {
  const [program = "", ...args] = argv;
  const child = spawn(program, args, { ...place, stdio: ["pipe", "pipe", "pipe"] });
  child.on("error", () => {});
  if (child.pid === undefined) {
    // Node reports the reason only later; when the process is out of descriptors, the child has no streams.
    const reason = child.stdin === undefined ? "too many open files" : "not found or not executable";
    throw new Error(`cannot run ${JSON.stringify(program)}: ${reason}`);
  }
  child.stdin.on("error", () => {});
  return {
    pid: child.pid,
    stdin: { write: (bytes) => write(child.stdin, bytes), close: () => void child.stdin.end() },
    stdout: child.stdout,
    stderr: child.stderr,
    kill: (signal = "SIGTERM") => void child.kill(signal),
    exited: ended(child),
  };
}

const { lives, isStopped } = processStates({
  platform: process.platform,
  uid: () => process.getuid?.() ?? -1,
  read: (path) => readFileSync(path, "utf8"),
  ps: (pid) => spawnSync("ps", ["-o", "uid=,stat=", "-p", String(pid)], { encoding: "utf8" }).stdout,
});

/** Refuses 0 and negative numbers: kill(2) takes them as process groups. */
function kill(pid: number, signal: Signal | 0): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  if (signal === 0) return lives(pid);
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if (["ESRCH", "EPERM"].includes(codeOf(error) ?? "")) return false;
    throw error;
  }
}

const commands: Commands = {
  run,
  runInherited,
  pipe,
  spawnDetached,
  kill,
  which: (program) => findProgram(program, process.env.PATH, files.isExecutable),
};

const PROGRAM = "/cli.js";
/** As many links as Linux follows. */
const MAX_LINKS = 40;

function lanAddress(): string | undefined {
  const interfaces = Object.entries(networkInterfaces());
  return lanAddressAmong(
    interfaces.flatMap(([name, addresses = []]) => addresses.map((address) => ({ ...address, name }))),
  );
}

function onSignal(signal: Signal, handler: () => void): () => void {
  process.on(signal, handler);
  return () => void process.off(signal, handler);
}

/** Deno can run the npm package too, but grants no permissions by default. */
const RUN = process.versions.deno === undefined ? [] : ["run", "-A", "--quiet"];

/** Resolves the link, such as `node_modules/.bin/svc`, by which npm starts svc: `ps` then shows `cli.js`. */
function programPath(): string {
  let path = process.argv[1] ?? "";
  for (let links = 0; links < MAX_LINKS && !path.endsWith(PROGRAM); links++) {
    try {
      path = resolve(dirname(path), readlinkSync(path));
    } catch {
      return path;
    }
  }
  return path;
}

/** Loaded by name, so that no bundler has to resolve it. */
const sea = process.getBuiltinModule("node:sea");

/** The names are a separate asset, because older versions of Node cannot list the assets. */
function embedded(): EmbeddedFiles | undefined {
  if (!sea?.isSea()) return undefined;
  return {
    names: () => Promise.resolve(JSON.parse(sea.getAsset(EMBEDDED_NAMES, "utf8"))),
    read: (name) => Promise.resolve(new Uint8Array(sea.getAsset(name))),
  };
}

const PROXY_FLAG = "--use-env-proxy";

/** The user's own variables about proxies, as JSON, across a restart: agents inherit them as they were. */
const OWN_VARIABLES = "SVC_OWN_PROXIES";

/** Node ignores proxies by default. Since 24.14 a call enables them; before, a flag does, with which svc restarts. */
function followProxies(): void {
  const { execArgv, argv, env, execPath } = process;
  restoreProxies();
  if (!hasProxy(env) || env.NODE_USE_ENV_PROXY !== undefined || execArgv.includes(PROXY_FLAG)) return;
  const interfaces = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  const proxies = nodeProxies(env, interfaces.map(({ address }) => address));
  if (proxies === undefined) return;
  const own = proxyVariables(env);
  const http: { setGlobalProxyFromEnv?(proxies: typeof env): void } = process.getBuiltinModule("node:http");
  if (http.setGlobalProxyFromEnv !== undefined) {
    // Node would read what is not in `proxies` from them, and fail at an address that it cannot use.
    for (const name of Object.keys(own)) delete env[name];
    http.setGlobalProxyFromEnv(proxies);
    return void Object.assign(env, own);
  }
  const canExecute = "execve" in process && process.allowedNodeEnvironmentFlags.has(PROXY_FLAG);
  if (!canExecute) return;
  const { execve }: { execve?(file: string, args: string[], env: typeof process.env): never } = process;
  const others = Object.entries(env).filter(([name]) => !Object.hasOwn(own, name));
  execve?.call(process, execPath, [execPath, PROXY_FLAG, ...execArgv, ...argv.slice(1)], {
    ...Object.fromEntries(others),
    ...proxies,
    [OWN_VARIABLES]: JSON.stringify(own),
  });
}

/** After the restart: by now Node has read the proxies. It reads `no_proxy` whenever it connects. */
function restoreProxies(): void {
  const { [OWN_VARIABLES]: text, no_proxy: direct } = process.env;
  if (text === undefined) return;
  const own: Record<string, string> = JSON.parse(text);
  userEnv.keep(own);
  for (const name of [OWN_VARIABLES, ...Object.keys(proxyVariables(process.env))]) delete process.env[name];
  Object.assign(process.env, own, { no_proxy: direct });
}

export const runtime: Runtime = {
  ...lean,
  name: "node",
  version: process.versions.node,
  pid: process.pid,
  platform: process.platform,
  hostname,
  lanAddress,
  cwd: () => process.cwd(),
  commands,
  selfCommand: () => sea?.isSea() ? [process.execPath] : [process.execPath, ...RUN, programPath()],
  embedded,
  followProxies,
  onSignal,
  memoryBytes: () => process.memoryUsage.rss(),
};
