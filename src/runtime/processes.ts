/** Process functions of both runtimes: finding a program, exit codes, and whether a process is alive or stopped. */
import { errorText } from "../async/error_text.ts";
import { codeOf } from "./system.ts";
import type { RunResult } from "./types.ts";

/** Finds the first executable on `path` and skips folders that it cannot search. Keeps a name with a slash as it is. */
export async function findProgram(
  program: string,
  path: string | undefined,
  isExecutable: (path: string) => Promise<boolean>,
): Promise<string | undefined> {
  const folders = (path ?? "").split(":").filter((folder) => folder.startsWith("/"));
  const candidates = program.includes("/") ? [program] : folders.map((folder) => `${folder}/${program}`);
  for (const candidate of candidates) {
    if (program !== "" && await unlessRefused(isExecutable(candidate))) return candidate;
  }
  return undefined;
}

/** False if the check fails with a system error. Throws any other error. */
async function unlessRefused(check: Promise<boolean>): Promise<boolean> {
  try {
    return await check;
  } catch (error) {
    if (codeOf(error) !== undefined) return false;
    throw error;
  }
}

const NOT_FOUND_CODE = 127;
const NOT_EXECUTABLE_CODE = 126;
const SIGNAL_BASE = 128;

/** The exit code of a child killed with SIGKILL. */
export const KILLED_CODE = SIGNAL_BASE + 9;

/** @param signal the signal's number, when one ended the child */
export function exitCode(code: number | null, signal: number | undefined): number {
  return code ?? SIGNAL_BASE + (signal ?? 0);
}

/** The result for a program that could not be started, with a shell's exit code. Rethrows any error other than missing or forbidden. */
export function failedStart(argv: readonly string[], error: unknown): RunResult {
  const code = codeOf(error);
  const reason = errorText(error);
  const result = { stdout: new Uint8Array(), stderr: `cannot run ${JSON.stringify(argv[0])}: ${reason}` };
  if (code === "ENOENT" || code === "ENOTDIR") return { code: NOT_FOUND_CODE, ...result };
  if (code === "EACCES" || code === "EPERM") return { code: NOT_EXECUTABLE_CODE, ...result };
  throw error;
}

/** The system could not open or read a file: that says nothing about the process. */
const CANNOT_READ: readonly string[] = ["EMFILE", "ENFILE", "ENOMEM", "EAGAIN", "EINTR", "EIO"];

/**
 * Whether a process of this user is alive, on Linux; true if the system cannot tell, because what a living process owns
 * must not be taken for a dead one's. @param read reads a file of /proc; throws when the process is gone
 */
export function livesByProc(pid: number, uid: number, read: (path: string) => string): boolean {
  let status: string;
  try {
    status = read(`/proc/${pid}/status`);
  } catch (error) {
    return CANNOT_READ.includes(codeOf(error) ?? "");
  }
  const state = /^State:\s+(\S)/m.exec(status)?.[1];
  const owner = /^Uid:\s+(\d+)/m.exec(status)?.[1];
  return isAlive(state, Number(owner), uid);
}

/** The same on other systems. @param line what `ps -o uid=,stat= -p <pid>` prints, empty for no such process */
export function livesByPs(line: string, uid: number): boolean {
  const [owner, state] = line.trim().split(/\s+/);
  return isAlive(state, Number(owner), uid);
}

/** A zombie, dead but not yet waited for, is not alive. Another user's process is alive only for root. */
function isAlive(state: string | undefined, owner: number, uid: number): boolean {
  if (state === undefined || state.startsWith("Z") || state.startsWith("X")) return false;
  return uid === 0 || owner === uid;
}

/** Whether a signal has stopped a process, on Linux. @param read as for livesByProc */
export function isStoppedByProc(pid: number, read: (path: string) => string): boolean {
  try {
    return /^State:\s+T/m.test(read(`/proc/${pid}/status`));
  } catch {
    return false;
  }
}

/** The same on other systems. @param line as for livesByPs */
export function isStoppedByPs(line: string): boolean {
  return line.trim().split(/\s+/)[1]?.startsWith("T") === true;
}

interface ProcessReaders {
  platform: string;
  uid(): number;
  /** Reads a file of /proc. */
  read(path: string): string;
  /** What `ps -o uid=,stat= -p <pid>` prints. */
  ps(pid: number): string;
}

/** Whether a process is alive, and whether it is stopped, as this system shows it. */
export function processStates({ platform, uid, read, ps }: ProcessReaders): {
  lives(pid: number): boolean;
  isStopped(pid: number): boolean;
} {
  const hasProc = platform === "linux";
  return {
    lives: (pid) => hasProc ? livesByProc(pid, uid(), read) : livesByPs(ps(pid), uid()),
    isStopped: (pid) => hasProc ? isStoppedByProc(pid, read) : isStoppedByPs(ps(pid)),
  };
}

/** How long SIGCHLD is ignored after running ps, whose own exit causes one, in milliseconds. */
const PS_QUIET_MS = 200;

/**
 * Returns the handler of SIGCHLD while a child has the terminal. A program that suspends itself, as tmux does on Ctrl-B
 * Ctrl-Z, stops only itself, and the shell would keep waiting for this process. `stopJob` stops the whole job, as
 * Ctrl-Z does, including any process between the shell and this one.
 */
export function suspendWith(isStopped: () => boolean, stopJob: () => void, platform: string): () => void {
  let quietUntil = 0;
  return () => {
    if (performance.now() < quietUntil) return;
    if (isStopped()) stopJob();
    if (platform !== "linux") quietUntil = performance.now() + PS_QUIET_MS;
  };
}
