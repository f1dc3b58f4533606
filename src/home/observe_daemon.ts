/** Finds out whether a daemon lives: it answers on its control socket, or at least holds its lock. */
import type { Clock } from "../async/clock.ts";
import type { Commands, Files, LocalSockets } from "../runtime/types.ts";
import { askDaemon } from "./control_client.ts";
import type { DaemonStatus } from "./control_messages.ts";
import { tryLock } from "./lock.ts";
import type { HomePaths } from "./paths.ts";
import { isVersion } from "./semver.ts";

/** What it takes to look after the daemon from another process. */
export interface DaemonHost {
  files: Files;
  commands: Pick<Commands, "run" | "kill" | "spawnDetached">;
  sockets: Pick<LocalSockets, "connect">;
  clock: Clock;
}

/** A daemon that does not answer in this time is taken for hung. */
export const STATUS_TIMEOUT_MS = 1_000;

export async function daemonStatus(host: DaemonHost, paths: HomePaths): Promise<DaemonStatus | undefined> {
  const socket = { sockets: host.sockets, path: paths.socket };
  const answer = await askDaemon(socket, { op: "status" }, { timeoutMs: STATUS_TIMEOUT_MS });
  return answer?.ok ? answer.status : undefined;
}

/** The version that the daemon booted from: the file's (spec, section 9), else what the daemon itself says. */
export async function daemonVersion(
  host: DaemonHost,
  paths: HomePaths,
  status: DaemonStatus,
): Promise<string> {
  const recorded = (await host.files.readText(paths.version))?.trim() ?? "";
  return isVersion(recorded) ? recorded : status.version;
}

/** The pid file's content; undefined without one, or when it holds no pid. For people: the lock is what counts. */
export async function recordedPid(
  files: Pick<Files, "readText">,
  paths: HomePaths,
): Promise<number | undefined> {
  const text = (await files.readText(paths.pid))?.trim() ?? "";
  return /^[1-9][0-9]{0,9}$/.test(text) ? Number(text) : undefined;
}

/** False while a daemon lives, also one that is only starting, or hung. A start that collides with this look retries. */
export async function isLockFree(files: Files, paths: HomePaths): Promise<boolean> {
  if ((await files.info(paths.lock)) === undefined) return true;
  const lock = await tryLock(files, paths.lock);
  lock?.release();
  return lock !== undefined;
}
