/** Starts a process that keeps running after this one and its terminal are gone. */

import { spawn } from "node:child_process";
import { closeSync, fchmodSync, openSync } from "node:fs";

const LOG_MODE = 0o600;

/** Starts `argv` in a new session with stdout and stderr appended to `logFile`; returns its pid. */
export async function spawnDetached(
  argv: readonly string[],
  options: { cwd?: string; env: Record<string, string>; logFile: string },
): Promise<number> {
  const [program = "", ...args] = argv;
  const { cwd, env, logFile } = options;
  const log = openSync(logFile, "a", LOG_MODE);
  try {
    fchmodSync(log, LOG_MODE);
    const child = spawn(program, args, { cwd, env, detached: true, stdio: ["ignore", log, log] });
    await new Promise((started, failed) => child.once("spawn", started).once("error", failed));
    child.unref();
    if (child.pid === undefined) throw new Error(`cannot start ${JSON.stringify(program)}: it has no pid`);
    return child.pid;
  } finally {
    closeSync(log);
  }
}
