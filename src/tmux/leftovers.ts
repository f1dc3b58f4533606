/**
 * Ends processes that were left behind by an agent that ignores the end of its session, or by a listener that was
 * killed.
 */
import { type Clock, delay } from "../async/clock.ts";
import type { Commands, Files } from "../runtime/types.ts";
import { CONTROL_CLIENT } from "./argv.ts";

export interface ProcessRow {
  pid: number;
  parent: number;
  group: number;
}

export interface LeftoverHost {
  commands: Pick<Commands, "run" | "kill">;
  clock: Clock;
}

/** Time between SIGTERM and SIGKILL, in milliseconds. */
const GRACE_MS = 3_000;
const PROBE_MS = 100;

/** Distinguishes a process from a later one with the same pid. Empty if there is no process. */
export async function processIdentity(host: LeftoverHost, pid: number): Promise<string> {
  const { stdout } = await host.commands.run(["ps", "-o", "lstart=", "-p", String(pid)]);
  return new TextDecoder().decode(stdout).trim();
}

/** Linux appends this to the path of a deleted terminal. */
const GONE = / \(deleted\)$/;
/** What ps prints for no terminal. */
const NO_TERMINAL = /^[?-]*$/;

export type TerminalHost = LeftoverHost & { files: Pick<Files, "readLink"> };

/**
 * True if the process has lost its terminal. Nothing else shows that it was left behind: its session may have another
 * name, or its window another session. False if only ps could show that, and `withPs` is false.
 */
export async function hasLostTerminal(
  { files, commands }: TerminalHost,
  pid: number,
  { withPs = true } = {},
): Promise<boolean> {
  const terminal = await files.readLink(`/proc/${pid}/fd/0`).catch(() => undefined);
  if (terminal !== undefined || !withPs) return GONE.test(terminal ?? "");
  const { code, stdout } = await commands.run(["ps", "-o", "tty=", "-p", String(pid)]);
  return code === 0 && NO_TERMINAL.test(new TextDecoder().decode(stdout).trim());
}

/** Ends the pane's process group and its descendants. `identity` was read while the pane was alive. */
export async function endLeftovers(
  host: LeftoverHost,
  pane: { pid: number; identity: string },
): Promise<void> {
  const now = await processIdentity(host, pane.pid);
  if (now !== "" && now !== pane.identity) return;
  const left = leftovers(await processRows(host), pane.pid);
  for (const pid of left) host.commands.kill(pid, "SIGTERM");
  const end = host.clock.elapsed() + GRACE_MS;
  const isAlive = (pid: number): boolean => host.commands.kill(pid, 0);
  while (left.some(isAlive) && host.clock.elapsed() < end) await delay(PROBE_MS, { clock: host.clock });
  for (const pid of left.filter(isAlive)) host.commands.kill(pid, "SIGKILL");
}

/** The members of the pane's process group, the pane's process, and all their descendants. */
export function leftovers(rows: readonly ProcessRow[], panePid: number): number[] {
  const found = new Set(
    rows.filter((row) => row.group === panePid || row.pid === panePid).map((row) => row.pid),
  );
  for (let before = -1; before !== found.size;) {
    before = found.size;
    for (const row of rows) if (found.has(row.parent)) found.add(row.pid);
  }
  return [...found];
}

async function processRows(host: LeftoverHost): Promise<ProcessRow[]> {
  const { stdout } = await host.commands.run(["ps", "-A", "-o", "pid=,ppid=,pgid="]);
  return new TextDecoder().decode(stdout).split("\n").flatMap((line) => {
    const [pid, parent, group] = line.trim().split(/\s+/).map(Number);
    return pid && parent !== undefined && group !== undefined ? [{ pid, parent, group }] : [];
  });
}

/**
 * Ends the control clients of a listener that was killed. tmux 3.3a keeps a client forever if it was about to write to
 * it when its reader was gone and its input not yet closed.
 */
export async function endOrphanedClients(commands: Pick<Commands, "run" | "kill">): Promise<void> {
  const { stdout } = await commands.run(["ps", "-A", "-ww", "-o", "pid=,ppid=,args="]);
  const rows = [...new TextDecoder().decode(stdout).matchAll(/^ *(\d+) +(\d+) (.*)$/gm)];
  const adopters = rows.filter(([, pid, , args = ""]) => pid === "1" || /^\S*systemd( |$)/.test(args));
  const adopted = new Set(adopters.map(([, pid]) => pid));
  for (const [, pid, parent, args = ""] of rows) {
    if (adopted.has(parent) && CONTROL_CLIENT.test(args.trim())) commands.kill(Number(pid), "SIGTERM");
  }
}
