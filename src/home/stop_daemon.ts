/** Ends the daemon: asked first, so that it finishes what it has in hand; by force only when it does not answer. */
import type { Signal } from "../runtime/types.ts";
import { askDaemon } from "./control_client.ts";
import {
  type DaemonHost,
  daemonStatus,
  isLockFree,
  recordedPid,
  STATUS_TIMEOUT_MS,
} from "./observe_daemon.ts";
import type { HomePaths } from "./paths.ts";
import { waitFor } from "../async/wait_for.ts";

/** How long a daemon that was asked may take for the injection in hand. */
export const DRAIN_LIMIT_MS = 15_000;
/** How long each signal may take. */
export const SIGNAL_LIMIT_MS = 3_000;
const PROBE_MS = 40;

/** False when no daemon lived. Throws when it lives on. */
export async function stopDaemon(host: DaemonHost, paths: HomePaths): Promise<boolean> {
  const status = await daemonStatus(host, paths);
  if (status === undefined && await isLockFree(host.files, paths)) return false;
  const socket = { sockets: host.sockets, path: paths.socket };
  const answer = await askDaemon(socket, { op: "stop" }, { timeoutMs: STATUS_TIMEOUT_MS });
  if (answer?.ok && await isGone(host, paths, DRAIN_LIMIT_MS)) return true;
  const pid = status?.pid ?? await recordedPid(host.files, paths);
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    if (await signalDaemon(host, pid, signal) && await isGone(host, paths, SIGNAL_LIMIT_MS)) return true;
  }
  throw new Error(
    `Cannot stop the listener: its process is not known for certain. Find it with: ps aux | grep -E "cli.(ts|js) listener"`,
  );
}

/** The lock, not the pid, tells: a pid may be in use again. */
async function isGone(host: DaemonHost, paths: HomePaths, limitMs: number): Promise<boolean> {
  const gone = await waitFor(
    async () => await isLockFree(host.files, paths) || undefined,
    { clock: host.clock, limitMs, everyMs: PROBE_MS },
  );
  return gone === true;
}

/** Signals only what is a listener by its command line. */
async function signalDaemon(host: DaemonHost, pid: number | undefined, signal: Signal): Promise<boolean> {
  if (pid === undefined) return false;
  const shown = await host.commands.run(["ps", "-o", "args=", "-p", String(pid)]);
  const isListener = /cli\.[tj]s listener\b/.test(new TextDecoder().decode(shown.stdout));
  return isListener && host.commands.kill(pid, signal);
}
