/** Spawns the daemon and waits until it answers. */
import type { DaemonStatus } from "./control_messages.ts";
import { daemonEnvironment } from "./daemon_env.ts";
import { type DaemonHost, daemonStatus, isLockFree, recordedPid } from "./observe_daemon.ts";
import type { HomePaths } from "./paths.ts";
import { waitFor } from "../async/wait_for.ts";

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

/** From the spawn to the first answer, on a loaded machine. */
export const READY_LIMIT_MS = 20_000;
const READY_PROBE_MS = 40;

/** The daemon's option that tells it that nobody watches its terminal. */
export const BACKGROUND_OPTION = "--background";

/** The caller holds the start lock. Throws when no daemon answers in the end; the message names the log. */
export async function startDaemon(host: DaemonHost, options: DaemonOptions): Promise<DaemonStatus> {
  await host.files.makeDirectory(options.paths.root, { mode: 0o700 });
  const start = new DaemonStart(host, options);
  const waiting = { clock: host.clock, limitMs: READY_LIMIT_MS, everyMs: READY_PROBE_MS };
  const found = await waitFor(() => start.probe(), waiting);
  if (found === undefined || found === "ended") throw new Error(await start.failure());
  return found;
}

/** One attempt: it spawns once the lock is free, which a daemon that is just ending may hold for a while. */
class DaemonStart {
  readonly #host: DaemonHost;
  readonly #options: DaemonOptions;
  #spawned: number | undefined;

  constructor(host: DaemonHost, options: DaemonOptions) {
    this.#host = host;
    this.#options = options;
  }

  async probe(): Promise<DaemonStatus | "ended" | undefined> {
    const { paths } = this.#options;
    const status = await daemonStatus(this.#host, paths);
    if (status !== undefined) return status;
    if (this.#spawned !== undefined && this.#host.commands.kill(this.#spawned, 0)) return undefined;
    if (!await isLockFree(this.#host.files, paths)) return undefined;
    if (this.#spawned !== undefined) return "ended";
    this.#spawned = await spawnDaemon(this.#host, this.#options);
    return undefined;
  }

  async failure(): Promise<string> {
    const { paths } = this.#options;
    if (this.#spawned === undefined) return await silentHolder(this.#host, paths);
    const last = (await this.#host.files.readText(paths.log))?.trimEnd().split("\n").at(-1);
    const why = last || "it said nothing";
    return `Cannot start the listener: it did not come up: ${why} (the whole log: "${paths.log}")`;
  }
}

async function spawnDaemon(host: DaemonHost, options: DaemonOptions): Promise<number> {
  const { paths, selfCommand, wsUrl } = options;
  const words = ["listener", BACKGROUND_OPTION, ...(wsUrl === undefined ? [] : ["--ws-url", wsUrl])];
  return await host.commands.spawnDetached([...selfCommand, ...words], {
    cwd: paths.root,
    env: daemonEnvironment(options.env, paths),
    logFile: paths.log,
  });
}

async function silentHolder(host: DaemonHost, paths: HomePaths): Promise<string> {
  const pid = await recordedPid(host.files, paths);
  const who = pid === undefined ? "a process that `ps aux` shows with `listener`" : `process ${pid}`;
  return `Cannot reach the listener: ${who} holds "${paths.lock}" and does not answer. Run: svc listener --restart`;
}
