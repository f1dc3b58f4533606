/**
 * The daemon: takes the lock, repairs its home, writes its files, runs the listener until a stop is requested, and
 * removes its files.
 */
import { folderOf } from "../runtime/system.ts";
import { errorText } from "../async/error_text.ts";
import { type ControlHandlers, serveControl } from "../home/control_socket.ts";
import { type FileLock, tryLock } from "../home/lock.ts";
import { type DaemonHost, daemonStatus, isListener, isServiceText, recordedPid } from "../home/daemon.ts";
import type { HomePaths } from "../home/paths.ts";
import { secureHome } from "../home/permissions.ts";
import { waitFor } from "../async/clock.ts";
import type { Commands, Files, LocalSockets, Runtime } from "../runtime/types.ts";
import { type ListenerLog, openLog, startLine } from "../home/log_files.ts";
import type { RunningListener } from "./listener.ts";
import { moveAside, readStateText } from "../home/damage.ts";
import { loadKept } from "./kept_sessions.ts";
import { checkMuted } from "../home/muted.ts";
import { loadIdentity, loadPaired } from "../home/pairing.ts";
import { parseJson } from "../protocol/json.ts";
import { isProjectsText } from "./projects.ts";
import { isStatesText } from "./inventory/session_entry.ts";

/** What the daemon needs from the machine. */
export interface LifecycleHost
  extends Omit<DaemonHost, "sockets">, Pick<Runtime, "pid" | "uid" | "onSignal"> {
  sockets: LocalSockets;
  /** Prints a line in the foreground. */
  show(line: string): void;
}

export interface DaemonRun {
  paths: HomePaths;
  version: string;
  wsUrl: string;
  /** Runs without a terminal: lines go only to the log, and an existing daemon is no failure. */
  background: boolean;
  /** Run by a service: waits while another listener runs. */
  standby?: boolean;
  /** Prints nothing after a successful start: launchd appends the output to a file that is never rotated. */
  printsOnlyStart?: boolean;
  start(log: (line: string) => void): Promise<RunningListener>;
}

/** Another process may hold the lock briefly, only to check whether it is free. */
const CLAIM_LIMIT_MS = 2_000;
const CLAIM_PROBE_MS = 50;
const STANDBY_PROBE_MS = 1_000;
/** Length of the temporary socket's name: no longer than the final one, so that its path fits wherever that fits. */
const BOUND_NAME_CHARS = 8;
/** How often the daemon checks that its files still exist. */
export const REPAIR_INTERVAL_MS = 30_000;

/** Resolves with the exit code once the daemon has ended. */
export async function runDaemon(host: LifecycleHost, run: DaemonRun): Promise<number> {
  const corrected = await secureHome(host.files, { paths: run.paths, uid: host.uid });
  const lock = run.standby ? await claimAfterOthers(host, run.paths) : await claim(host, run.paths);
  if (lock === undefined) {
    host.show(await whoRuns(host, run.paths));
    return run.background ? 0 : 1;
  }
  const damaged = await mendHome(host.files, run.paths)
    .catch((error) => [`Cannot check "${run.paths.root}": ${errorText(error)}`]);
  const printing = { isOn: !run.background };
  const log = openLog(host.files, {
    path: run.paths.log,
    now: () => host.clock.now(),
    echo: (line) => printing.isOn && host.show(line),
  });
  const start = async (line: (text: string) => void): Promise<RunningListener> => {
    const listener = await run.start(line);
    if (run.printsOnlyStart) printing.isOn = false;
    return listener;
  };
  log.line(startLine(run.version, run.wsUrl));
  for (const path of corrected) log.line(`"${path}" was readable by others: its mode is corrected`);
  for (const line of damaged) log.line(line);
  try {
    return await live(host, { ...run, start }, log);
  } catch (error) {
    printing.isOn = !run.background;
    log.line(`Cannot run the listener: ${errorText(error)}`);
    return 1;
  } finally {
    await log.close();
    lock.release();
  }
}

/** Takes the lock. Resolves to undefined if a daemon answers, or holds the lock for longer than a check does. */
async function claim(host: LifecycleHost, paths: HomePaths): Promise<FileLock | undefined> {
  const held = "held" as const;
  const found = await waitFor<FileLock | typeof held>(async () => {
    const lock = await tryLock(host.files, paths.lock);
    if (lock !== undefined) return lock;
    return await daemonStatus(host, paths) && held;
  }, { clock: host.clock, limitMs: CLAIM_LIMIT_MS, everyMs: CLAIM_PROBE_MS });
  return found === held ? undefined : found;
}

/**
 * Waits until the running listener has ended, so that the service takes over. A signal ends the process, and so the
 * wait.
 */
async function claimAfterOthers(host: LifecycleHost, paths: HomePaths): Promise<FileLock | undefined> {
  const free = await tryLock(host.files, paths.lock);
  if (free !== undefined) return free;
  host.show(`${await whoRuns(host, paths)} This one waits until that ends.`);
  const waiting = { clock: host.clock, limitMs: Infinity, everyMs: STANDBY_PROBE_MS };
  return await waitFor(() => tryLock(host.files, paths.lock), waiting);
}

async function whoRuns(host: LifecycleHost, paths: HomePaths): Promise<string> {
  const status = await daemonStatus(host, paths);
  const pid = status?.pid ?? await recordedPid(host.files, paths);
  const version = status === undefined ? "" : `, v${status.version}`;
  const who = pid === undefined ? "another process" : `process ${pid}${version}`;
  return `A listener is already running: ${who} holds "${paths.lock}". To replace it run: svc listener --restart`;
}

/** Files that the listener writes again, so a folder in their place only needs to be moved away. */
const FILES = ["socket", "pid", "version", "log", "journal", "audit", "states", "projects"] as const;
const FOLDERS = ["markers", "remote", "answers", "uploads", "lastWords", "setup"] as const;

/**
 * Moves unusable files and folders in `~/.svc` out of the way. Returns one line for each damaged file, with what to do.
 * The caller holds the listener's lock.
 */
export async function mendHome(files: Files, paths: HomePaths): Promise<string[]> {
  return [...await clearPlaces(files, paths), ...await damagedFiles(files, paths)];
}

async function clearPlaces(files: Files, paths: HomePaths): Promise<string[]> {
  const lines: string[] = [];
  const wanted = [
    ...FILES.map((name) => ({ path: paths[name], isFolder: false })),
    ...FOLDERS.map((name) => ({ path: paths[name], isFolder: true })),
  ];
  for (const { path, isFolder } of wanted) {
    const info = await files.info(path);
    if (info === undefined || info.isDirectory === isFolder) continue;
    const found = isFolder ? "a file, not a folder" : "a folder, not a file";
    lines.push(`"${path}" was ${found}: moved to "${await moveAside(files, path)}". Remove that.`);
  }
  return lines;
}

async function damagedFiles(files: Files, paths: HomePaths): Promise<string[]> {
  const lines: string[] = [];
  for (const load of [loadIdentity, loadPaired, loadKept, checkMuted]) {
    await load(files, paths).catch((error) => lines.push(errorText(error)));
  }
  const isDamaged = async (path: string, isIntact: (text: string) => boolean): Promise<boolean> => {
    const text = await readStateText(files, path);
    return text !== undefined && !isIntact(text);
  };
  for (const [path, isIntact] of [[paths.states, isStatesText], [paths.projects, isProjectsText]] as const) {
    if (!await isDamaged(path, isIntact)) continue;
    lines.push(`"${path}" is damaged: moved to "${await moveAside(files, path)}". A new one is made.`);
  }
  const manifest = `${paths.setup}/manifest.json`;
  if (await isDamaged(paths.service, isServiceText)) {
    lines.push(`"${paths.service}" is damaged. Run: svc service install listener`);
  }
  if (await isDamaged(manifest, isObjectText)) lines.push(`"${manifest}" is damaged. Run: svc setup`);
  return lines;
}

/** True if the text is a JSON object. The schema belongs to the installer. */
function isObjectText(text: string): boolean {
  const value = parseJson(text)?.value;
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

async function live(host: LifecycleHost, run: DaemonRun, log: ListenerLog): Promise<number> {
  const stop = new StopRequest();
  const off = stopOnSignals(host, run, stop);
  const daemon: { listener?: RunningListener } = {};
  const handlers = controlHandlers(host, run, { daemon, stop });
  const presence = new Presence(host, { paths: run.paths, version: run.version, handlers });
  await presence.show();
  const tick = keepPresence(host, presence, { log, leave: () => stop.ask() });
  try {
    daemon.listener = await run.start((line) => log.line(line));
    await stop.asked;
    log.line("svc listener stopping");
    // The socket stays: without it an agent's hook would let its dialog open, and an Enter may be in flight.
    await presence.leave();
    await Promise.race([daemon.listener.stop(), stop.forced]);
    log.line("svc listener stopped");
    return 0;
  } finally {
    tick.end();
    off();
    await presence.end();
  }
}

function stopOnSignals(host: LifecycleHost, run: DaemonRun, stop: StopRequest): () => void {
  const onHangup = run.background ? () => {} : () => stop.ask();
  const offs = [
    host.onSignal("SIGTERM", () => stop.ask()),
    host.onSignal("SIGINT", () => stop.ask()),
    host.onSignal("SIGHUP", onHangup),
  ];
  return () => offs.forEach((off) => off());
}

function controlHandlers(
  host: LifecycleHost,
  run: DaemonRun,
  { daemon, stop }: { daemon: { listener?: RunningListener }; stop: StopRequest },
): ControlHandlers {
  const startedAt = host.clock.now();
  return {
    status: () =>
      stop.isAsked ? undefined : {
        connected: false,
        sessions: 0,
        ...daemon.listener?.status(),
        pid: host.pid,
        version: run.version,
        startedAt,
        wsUrl: run.wsUrl,
      },
    // Only a second signal forces the stop, not a second request.
    stop: () => stop.isAsked || stop.ask(),
    hook: (report) => daemon.listener?.hook(report),
    gate: async (report) => await daemon.listener?.gate(report),
    dialog: async (report, call) => await daemon.listener?.dialog(report, call),
    begin: async (begun) => await daemon.listener?.sessionBegins(begun),
    look: () => daemon.listener?.look(),
    forget: (phone) => daemon.listener?.revokePhone(phone),
  };
}

/**
 * Restores deleted files. Without its home a daemon can neither be found nor work, so it exits. It also exits if its
 * lock was deleted and another one has started: two would type the same message.
 */
function keepPresence(
  host: LifecycleHost,
  presence: Presence,
  { log, leave }: { log: ListenerLog; leave: () => void },
): { end(): void } {
  let cancel = (): void => {};
  const check = async (): Promise<void> => {
    try {
      if (!await presence.repair()) {
        log.line("This listener's home was removed, or is another listener's by now");
        return leave();
      }
    } catch (error) {
      log.line(`Cannot put the daemon's files back: ${error}`);
    }
    arm();
  };
  const arm = (): void => {
    cancel = host.clock.after(REPAIR_INTERVAL_MS, () => void check());
  };
  arm();
  return { end: () => cancel() };
}

export interface PresenceHost {
  files: Files;
  commands: Pick<Commands, "run">;
  sockets: Pick<LocalSockets, "listen">;
  pid: number;
}

export interface PresenceOptions {
  paths: HomePaths;
  version: string;
  handlers: ControlHandlers;
}

/** The files by which others find the daemon. The caller holds its lock, so an existing socket or pid file is stale. */
export class Presence {
  readonly #host: PresenceHost;
  readonly #options: PresenceOptions;
  #control: { close(): void } | undefined;
  #hasLeft = false;
  #hasEnded = false;
  #hasSuccessor = false;

  constructor(host: PresenceHost, options: PresenceOptions) {
    this.#host = host;
    this.#options = options;
  }

  /**
   * Writes the files, then opens the socket: once it answers, they exist. If they cannot be written now, `repair` later
   * finds the pid file missing.
   */
  async show(): Promise<void> {
    await this.#writeFiles().catch(() => this.#host.files.remove(this.#options.paths.pid));
    await this.#listen();
  }

  /** Restores deleted files. False if the whole home is gone, or is a new one or another daemon's by now. */
  async repair(): Promise<boolean> {
    const { files, pid } = this.#host;
    const { paths } = this.#options;
    const isGone = async (path: string): Promise<boolean> => await files.info(path) === undefined;
    // Where it was removed and made anew, this daemon's journal is in the old one.
    if (await isGone(paths.root) || (await isGone(paths.lock) && await isGone(paths.pid))) return false;
    const recorded = await recordedPid(files, paths) ?? pid;
    this.#hasSuccessor ||= recorded !== pid && await isListener(this.#host, recorded);
    if (this.#hasSuccessor) return false;
    if (!this.#hasLeft && (await files.info(paths.pid)) === undefined) await this.#writeFiles();
    if (!this.#hasLeft && (await files.info(paths.socket)) === undefined) await this.#listen();
    // Either may have been called meanwhile.
    if (this.#hasLeft) await this.leave();
    if (this.#hasEnded) await this.end();
    return true;
  }

  /** Closes the socket and removes this daemon's files. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    this.#control?.close();
    this.#control = undefined;
    if (!this.#hasSuccessor) await this.#host.files.remove(this.#options.paths.socket);
    await this.leave();
  }

  /** Removes this daemon's files except the socket, and stops restoring them. */
  async leave(): Promise<void> {
    const { files, pid } = this.#host;
    const { paths } = this.#options;
    this.#hasLeft = true;
    if ((await files.readText(paths.pid))?.trim() !== String(pid)) return;
    await files.remove(paths.pid);
    await files.remove(paths.version);
  }

  async #writeFiles(): Promise<void> {
    const { files, pid } = this.#host;
    const { paths, version } = this.#options;
    await files.replaceText(paths.version, `${version}\n`, { mode: 0o600 });
    await files.replaceText(paths.pid, `${pid}\n`, { mode: 0o600 });
  }

  /**
   * Binds a temporary name and renames it: the runtime unlinks the name that it bound some time after the close, which
   * would otherwise remove the socket of the next daemon.
   */
  async #listen(): Promise<void> {
    const { files, sockets } = this.#host;
    const { paths, handlers } = this.#options;
    this.#control?.close();
    const directory = folderOf(paths.socket);
    const bound = `${directory}/${crypto.randomUUID().slice(0, BOUND_NAME_CHARS)}`;
    this.#control = await serveControl(sockets, bound, handlers);
    await files.rename(bound, paths.socket);
  }
}

export class StopRequest {
  /** Resolves at the first request. */
  readonly asked: Promise<void>;
  /** Resolves at the second request: do not wait for the current injection. */
  readonly forced: Promise<void>;
  readonly #steps: (() => void)[] = [];
  isAsked = false;

  constructor() {
    this.asked = new Promise((resolve) => this.#steps.push(resolve));
    this.forced = new Promise((resolve) => this.#steps.push(resolve));
  }

  ask(): void {
    this.isAsked = true;
    this.#steps.shift()?.();
  }
}
