/** Keeps exactly one listener alive, on the right version: what each wrapper run does about it. */
import { type DaemonDecision, decideDaemon } from "./decide_daemon.ts";
import type { DaemonStatus } from "./control_messages.ts";
import { type FileLock, tryLock } from "./lock.ts";
import { type DaemonHost, daemonStatus, daemonVersion } from "./observe_daemon.ts";
import { type DaemonOptions, READY_LIMIT_MS, startDaemon } from "./start_daemon.ts";
import { DRAIN_LIMIT_MS, stopDaemon } from "./stop_daemon.ts";
import { waitFor } from "../async/wait_for.ts";

/** A starter that others wait for may have to stop the old daemon and to start the new one. */
const START_LOCK_LIMIT_MS = READY_LIMIT_MS + DRAIN_LIMIT_MS;
const START_LOCK_PROBE_MS = 40;

export interface EnsureOptions extends DaemonOptions {
  /** Told before a daemon is replaced: one line for a person. */
  onNotice(line: string): void;
}

/** What a wrapper should do now. Quick: one question over the control socket. */
export async function planDaemon(host: DaemonHost, options: DaemonOptions): Promise<DaemonDecision> {
  const status = await daemonStatus(host, options.paths);
  const running = status && await daemonVersion(host, options.paths, status);
  return decideDaemon({ running, installed: options.version });
}

/** One line for a person, where there is something to say (spec, section 3: the stale version and the new one). */
export function decisionNotice(decision: DaemonDecision, installed: string): string | undefined {
  return decision.action === "restart"
    ? `The listener runs v${decision.stale}, v${installed} is installed: restarting it on v${installed}.`
    : undefined;
}

/** Resolves once a daemon answers. Of many callers at once one starts it; the others wait. Throws when none comes up. */
export async function ensureListener(host: DaemonHost, options: EnsureOptions): Promise<void> {
  const decision = await planDaemon(host, options);
  const notice = decisionNotice(decision, options.version);
  if (notice !== undefined) options.onNotice(notice);
  await carryOut(host, options, decision);
}

/** Carries out what planDaemon decided, unless another process has done so meanwhile. */
export async function carryOut(
  host: DaemonHost,
  options: DaemonOptions,
  decision: DaemonDecision,
): Promise<void> {
  if (isSettled(decision)) return;
  const turn = await waitFor<FileLock | "settled">(async () => {
    const lock = await tryLock(host.files, await startLockPath(host, options));
    if (lock !== undefined) return lock;
    return isSettled(await planDaemon(host, options)) ? "settled" : undefined;
  }, { clock: host.clock, limitMs: START_LOCK_LIMIT_MS, everyMs: START_LOCK_PROBE_MS });
  if (turn === "settled") return;
  if (turn === undefined) throw startBlocked(options);
  try {
    await actAlone(host, options);
  } finally {
    turn.release();
  }
}

/** Stops the daemon, whatever its version, and starts one of the installed version. */
export async function restartListener(host: DaemonHost, options: DaemonOptions): Promise<DaemonStatus> {
  const path = await startLockPath(host, options);
  const lock = await waitFor(() => tryLock(host.files, path), {
    clock: host.clock,
    limitMs: START_LOCK_LIMIT_MS,
    everyMs: START_LOCK_PROBE_MS,
  });
  if (lock === undefined) throw startBlocked(options);
  try {
    await stopDaemon(host, options.paths);
    return await startDaemon(host, options);
  } finally {
    lock.release();
  }
}

/** The caller holds the start lock, so what it sees now stays true until it has acted. */
async function actAlone(host: DaemonHost, options: DaemonOptions): Promise<void> {
  const decision = await planDaemon(host, options);
  if (isSettled(decision)) return;
  if (decision.action === "restart") await stopDaemon(host, options.paths);
  await startDaemon(host, options);
}

function isSettled(decision: DaemonDecision): boolean {
  return decision.action === "keep" || decision.action === "leave";
}

async function startLockPath(host: DaemonHost, { paths }: DaemonOptions): Promise<string> {
  await host.files.makeDirectory(paths.root, { mode: 0o700 });
  return paths.startLock;
}

function startBlocked({ paths }: DaemonOptions): Error {
  return new Error(
    `Cannot start the listener: another process has been starting it for ${START_LOCK_LIMIT_MS / 1_000} s ` +
      `and holds "${paths.startLock}". End that process, then run: svc listener --restart`,
  );
}
