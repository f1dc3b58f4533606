/** Keeps exactly one listener of the installed version running: reads its status, starts, replaces and stops it. */
import { type Clock, waitFor } from "../async/clock.ts";
import type { Commands, Files, LocalSockets, Signal } from "../runtime/types.ts";
import { askDaemon, type DaemonStatus } from "./control_socket.ts";
import { type DaemonDecision, decideDaemon, isVersion } from "./daemon_decision.ts";
import { failedStartReason } from "./log_files.ts";
import { type FileLock, tryLock } from "./lock.ts";
import type { HomePaths } from "./paths.ts";
import { makeHome } from "./permissions.ts";
import * as z from "zod/mini";
import { parseJson } from "../protocol/json.ts";
import { minLength } from "../protocol/lengths.ts";
import { readStateText } from "./damage.ts";

/** What another process needs to control the daemon. */
export interface DaemonHost {
  files: Files;
  commands: Pick<Commands, "run" | "kill" | "spawnDetached">;
  sockets: Pick<LocalSockets, "connect">;
  clock: Clock;
}

export interface DaemonOptions {
  paths: HomePaths;
  /** The installed version. */
  version: string;
  /** argv that runs this program again. */
  selfCommand: readonly string[];
  /** The wrapper's environment. */
  env: Readonly<Record<string, string>>;
  /** `--ws-url`, for the daemon that this call starts. */
  wsUrl?: string | undefined;
}

/** The option with which svc starts the daemon: its terminal is the log file. */
export const BACKGROUND_OPTION = "--background";

/** The option with which a service starts the listener: it waits while another one runs, and then takes its place. */
export const STANDBY_OPTION = "--standby";

/** A daemon that does not answer within this time counts as hung; on a busy machine it may not run for seconds. */
const STATUS_TIMEOUT_MS = 5_000;
/** How long a spawned daemon may take to answer on a loaded machine. */
const READY_LIMIT_MS = 20_000;
/** How long a daemon that was asked to stop may take to finish the injection in progress. */
const DRAIN_LIMIT_MS = 15_000;
/** How long a daemon may take to exit after each signal. */
const SIGNAL_LIMIT_MS = 3_000;
/** The process that holds the start lock may have to stop the old daemon and start the new one. */
const START_LOCK_LIMIT_MS = READY_LIMIT_MS + DRAIN_LIMIT_MS;
const PROBE_MS = 40;
const LOCK_PAUSE_MAX_MS = 1_000;

export async function daemonStatus(host: DaemonHost, paths: HomePaths): Promise<DaemonStatus | undefined> {
  const socket = { sockets: host.sockets, path: paths.socket };
  const answer = await askDaemon(socket, { op: "status" }, { timeoutMs: STATUS_TIMEOUT_MS });
  return answer?.ok ? answer.status : undefined;
}

/** The version that the daemon started with: from `listener.version` (docs/specification.md, Versions), else from its status. */
export async function daemonVersion(
  host: DaemonHost,
  paths: HomePaths,
  status: DaemonStatus,
): Promise<string> {
  const recorded = (await readStateText(host.files, paths.version))?.trim() ?? "";
  return isVersion(recorded) ? recorded : status.version;
}

/** The pid file's content; undefined when there is no file, or no pid in it. Only for messages: the lock decides. */
export async function recordedPid(
  files: Pick<Files, "readText">,
  paths: HomePaths,
): Promise<number | undefined> {
  const text = (await readStateText(files, paths.pid))?.trim() ?? "";
  return /^[1-9][0-9]{0,9}$/.test(text) ? Number(text) : undefined;
}

/** False while a daemon runs, starts or hangs. A daemon that starts during this check retries its lock. */
export async function isLockFree(files: Files, paths: HomePaths): Promise<boolean> {
  if ((await files.info(paths.lock)) === undefined) return true;
  const lock = await tryLock(files, paths.lock);
  lock?.release();
  return lock !== undefined;
}

/** True after a daemon ended without being stopped: it left its pid file. */
export async function hasCrashed({ files }: Pick<DaemonHost, "files">, paths: HomePaths): Promise<boolean> {
  return await recordedPid(files, paths) !== undefined && await isLockFree(files, paths);
}

/** Decides what a wrapper should do about the daemon. Fast: one request over the control socket. */
export async function planDaemon(host: DaemonHost, options: DaemonOptions): Promise<DaemonDecision> {
  const status = await daemonStatus(host, options.paths);
  const running = status && await daemonVersion(host, options.paths, status);
  const decision = decideDaemon({ running, installed: options.version });
  if (decision.action !== "restart") return decision;
  const other = await otherService(host.files, options.paths, options);
  if (other === undefined) return decision;
  return { action: "leave_service", running: decision.stale, program: other.at(-1) ?? "" };
}

/** A line for the user when the daemon will be restarted (docs/specification.md, Wrapper and daemon transitions), or cannot be. */
export function decisionNotice(decision: DaemonDecision, installed: string): string | undefined {
  if (decision.action === "leave_service") {
    return `The listener runs v${decision.running}, as a service that starts "${decision.program}"; v${installed} is installed. To use that, run: svc service install listener`;
  }
  return decision.action === "restart"
    ? `The listener runs v${decision.stale}, v${installed} is installed: restarting it on v${installed}.`
    : undefined;
}

export interface EnsureOptions extends DaemonOptions {
  /** Called with one line for the user before a daemon is replaced. */
  onNotice(line: string): void;
}

/**
 * Resolves once a daemon answers: true if this call started it. When several processes call it at once, one starts the
 * daemon. Throws when none answers.
 */
export async function ensureListener(host: DaemonHost, options: EnsureOptions): Promise<boolean> {
  const decision = await planDaemon(host, options);
  const notice = decisionNotice(decision, options.version);
  if (notice !== undefined) options.onNotice(notice);
  return await carryOut(host, options, decision);
}

/** Carries out the decision of `planDaemon`, unless another process has done so meanwhile. True if it started a daemon. */
export async function carryOut(
  host: DaemonHost,
  options: DaemonOptions,
  decision: DaemonDecision,
): Promise<boolean> {
  if (isSettled(decision)) return false;
  const turn = await waitForStartLock<FileLock | "settled">(host, options, async (lock) => {
    if (lock !== undefined) return lock;
    return isSettled(await planDaemon(host, options)) ? "settled" : undefined;
  });
  if (turn === "settled") return false;
  try {
    // No other process starts or stops the daemon while the lock is held, so this decision stays valid.
    const { action } = await planDaemon(host, options);
    if (action === "restart") await stopDaemon(host, options.paths);
    if (action !== "restart" && action !== "start") return false;
    return (await startDaemon(host, options)).isOwn;
  } finally {
    turn.release();
  }
}

/** Stops the daemon, whatever its version, and starts one of the installed version. */
export async function restartListener(host: DaemonHost, options: DaemonOptions): Promise<DaemonStatus> {
  const lock = await waitForStartLock<FileLock>(host, options, (lock) => Promise.resolve(lock));
  try {
    await stopDaemon(host, options.paths);
    return (await startDaemon(host, options)).status;
  } finally {
    lock.release();
  }
}

function isSettled({ action }: DaemonDecision): boolean {
  return action === "keep" || action === "leave" || action === "leave_service";
}

/** Many wrappers polling often would take the CPU time that the daemon needs to start. */
const lockPause = (waitedMs: number): number => Math.min(Math.max(waitedMs / 4, PROBE_MS), LOCK_PAUSE_MAX_MS);

/** Tries the lock until `judge` returns a value for the result. Throws when another process holds it too long. */
async function waitForStartLock<T>(
  host: DaemonHost,
  { paths }: DaemonOptions,
  judge: (lock: FileLock | undefined) => Promise<T | undefined>,
): Promise<T> {
  await makeHome(host.files, paths);
  const found = await waitFor(async () => await judge(await tryLock(host.files, paths.startLock)), {
    clock: host.clock,
    limitMs: START_LOCK_LIMIT_MS,
    everyMs: lockPause,
  });
  if (found !== undefined) return found;
  throw new Error(
    `Cannot start the listener: another process has been starting it for ${START_LOCK_LIMIT_MS / 1_000} s ` +
      `and holds "${paths.startLock}". End that process, then run: svc listener --restart`,
  );
}

/**
 * The caller holds the start lock. `isOwn` is false for a daemon that was started by hand at the same time. Throws when
 * none answers in time; the message names the log.
 */
async function startDaemon(
  host: DaemonHost,
  options: DaemonOptions,
): Promise<{ status: DaemonStatus; isOwn: boolean }> {
  const { paths } = options;
  await makeHome(host.files, paths);
  // A service cannot take an address that is for one run only.
  const isService = options.wsUrl === undefined && await startService(host, paths);
  const before = (await host.files.info(paths.log))?.size ?? 0;
  let spawned: number | undefined;
  const probe = async (): Promise<DaemonStatus | "exited" | undefined> => {
    const status = await daemonStatus(host, paths);
    if (status !== undefined || isService) return status;
    if (spawned !== undefined && host.commands.kill(spawned, 0)) return undefined;
    // A daemon that is just exiting may hold the lock for a while.
    if (!await isLockFree(host.files, paths)) return undefined;
    if (spawned !== undefined) return "exited";
    spawned = await spawnDaemon(host, options);
    return undefined;
  };
  const waiting = { clock: host.clock, limitMs: READY_LIMIT_MS, everyMs: PROBE_MS };
  const found = await waitFor(probe, waiting);
  const hasStarted = spawned !== undefined || isService;
  if (found !== undefined && found !== "exited") {
    return { status: found, isOwn: isService || found.pid === spawned };
  }
  throw new Error(await (hasStarted ? failedStart(host, paths, before) : unreachable(host, paths)));
}

async function spawnDaemon(host: DaemonHost, options: DaemonOptions): Promise<number> {
  const { paths, selfCommand, wsUrl } = options;
  const args = ["listener", BACKGROUND_OPTION, ...(wsUrl === undefined ? [] : ["--ws-url", wsUrl])];
  return await host.commands.spawnDetached([...selfCommand, ...args], {
    cwd: paths.root,
    env: daemonEnvironment(options.env, paths),
    logFile: paths.log,
  });
}

/** The error message, with the reason from the log after `before`: the log's length in bytes before this start. */
async function failedStart(host: DaemonHost, paths: HomePaths, before: number): Promise<string> {
  const bytes = await host.files.readBytes(paths.log) ?? new Uint8Array();
  // It is shorter after a rotation.
  const added = bytes.length < before ? bytes : bytes.subarray(before);
  const reason = failedStartReason(new TextDecoder().decode(added));
  return `Cannot start the listener: it did not come up: ${
    reason ?? "it logged nothing"
  } (the log: "${paths.log}")`;
}

async function unreachable(host: DaemonHost, paths: HomePaths): Promise<string> {
  const pid = await recordedPid(host.files, paths);
  const who = pid === undefined ? "a process that `ps aux` shows with `listener`" : `process ${pid}`;
  return `Cannot reach the listener: ${who} holds "${paths.lock}" and does not answer. Run: svc listener --restart`;
}

/** False when no daemon was running. Throws when it keeps running. */
export async function stopDaemon(host: DaemonHost, paths: HomePaths): Promise<boolean> {
  const status = await daemonStatus(host, paths);
  if (status === undefined && await isLockFree(host.files, paths)) return false;
  const socket = { sockets: host.sockets, path: paths.socket };
  const answer = await askDaemon(socket, { op: "stop" }, { timeoutMs: STATUS_TIMEOUT_MS });
  if (answer?.ok && await hasExited(host, paths, DRAIN_LIMIT_MS)) return true;
  const pid = status?.pid ?? await recordedPid(host.files, paths);
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    if (!await signalDaemon(host, pid, signal) || !await hasExited(host, paths, SIGNAL_LIMIT_MS)) continue;
    // A killed daemon could not remove its pid file, and would count as crashed.
    if (await recordedPid(host.files, paths) === pid) await host.files.remove(paths.pid);
    return true;
  }
  throw new Error(
    `Cannot stop the listener: its process is not known for certain. Find it with: ps aux | grep -E "(cli.(ts|js)|svc) listener"`,
  );
}

/** Judged by the lock: the pid may belong to another process by now. */
async function hasExited(host: DaemonHost, paths: HomePaths, limitMs: number): Promise<boolean> {
  const exited = await waitFor(
    async () => await isLockFree(host.files, paths) || undefined,
    { clock: host.clock, limitMs, everyMs: PROBE_MS },
  );
  return exited === true;
}

/** Sends the signal only to a process whose command line is a listener's. */
async function signalDaemon(host: DaemonHost, pid: number | undefined, signal: Signal): Promise<boolean> {
  return pid !== undefined && await isListener(host, pid) && host.commands.kill(pid, signal);
}

/** True if the process's command line is a listener's: the pid of an ended one may be another program's by now. */
export async function isListener(
  { commands }: { commands: Pick<Commands, "run"> },
  pid: number,
): Promise<boolean> {
  const shown = await commands.run(["ps", "-ww", "-o", "args=", "-p", String(pid)]);
  return /(cli\.[tj]s|\/svc) listener\b/.test(new TextDecoder().decode(shown.stdout));
}

/** Variables of the agent or pane that the wrapper runs in, which are meaningless to the daemon. */
const AGENT_PREFIXES = [
  "CLAUDE_",
  "CODEX_",
  "GEMINI_",
  "CURSOR_",
  "WINDSURF_",
  "OPENCODE_",
  "COPILOT_",
  "MCP_",
];
const AGENT_NAMES = new Set([
  "CLAUDECODE",
  "OPENCODE",
  "SVC_SESSION",
  "TMUX",
  "TMUX_PANE",
]);

/** Settings for every run of an agent, including one that a phone starts: keys, folders and addresses. */
const SETTING = /_(API_KEY|HOME|CONFIG_DIR|BASE_URL)$/;

/** The wrapper's environment without the variables of one run of an agent, or of a pane. `SVC_HOME` becomes absolute. */
export function daemonEnvironment(
  env: Readonly<Record<string, string>>,
  paths: HomePaths,
): Record<string, string> {
  const kept = Object.entries(env).filter(([name]) => !isAgentScoped(name));
  const home: [string, string][] = env.SVC_HOME ? [["SVC_HOME", paths.root]] : [];
  return Object.fromEntries([...kept, ...home]);
}

function isAgentScoped(name: string): boolean {
  return AGENT_NAMES.has(name) ||
    (AGENT_PREFIXES.some((prefix) => name.startsWith(prefix)) && !SETTING.test(name));
}

/** `service.json`: how the listener is started when `svc service install listener` made it a service of this account. */
const ServiceFile = z.object({
  /** argv that starts the service. */
  start: z.array(z.string()).check(minLength(1)),
  /** argv that runs the svc that the service starts; left out by older versions. */
  command: z.optional(z.array(z.string())),
});

export function isServiceText(text: string): boolean {
  return ServiceFile.safeParse(parseJson(text)?.value).success;
}

export async function recordService(
  files: Files,
  paths: HomePaths,
  service: z.infer<typeof ServiceFile>,
): Promise<void> {
  await makeHome(files, paths);
  await files.replaceText(paths.service, `${JSON.stringify(service)}\n`, { mode: 0o600 });
}

export async function forgetService(files: Files, paths: HomePaths): Promise<void> {
  await files.remove(paths.service);
}

async function readService(files: Files, paths: HomePaths): Promise<z.infer<typeof ServiceFile> | undefined> {
  const text = await readStateText(files, paths.service);
  return ServiceFile.safeParse(parseJson(text ?? "")?.value).data;
}

/** argv of the svc that the listener's service starts, if it is not this one. */
export async function otherService(
  files: Files,
  paths: HomePaths,
  { selfCommand }: { selfCommand: readonly string[] },
): Promise<readonly string[] | undefined> {
  const command = (await readService(files, paths))?.command;
  if (command === undefined || command.join("\0") === selfCommand.join("\0")) return undefined;
  return command;
}

/** Starts the listener's service; false without one, or if that fails, as in a session unknown to systemd. */
export async function startService(
  { files, commands }: { files: Files; commands: Pick<Commands, "run"> },
  paths: HomePaths,
): Promise<boolean> {
  const service = await readService(files, paths);
  return service !== undefined && (await commands.run(service.start)).code === 0;
}
