/**
 * Keeps a test's own tmux commands from the moment at which a listener's client attaches: tmux before 3.7 may crash
 * then (docs/mirror.md, "When a client attaches").
 */
import { CONTROL_CLIENT } from "../../src/tmux/argv.ts";
import { until } from "./until.ts";

/** tmux notifies all control clients of these. */
const NOTIFYING = new Set([
  ...["new-session", "kill-session", "rename-session", "detach-client"],
  ...["new-window", "kill-window", "select-window", "split-window", "kill-pane", "select-pane"],
  ...["break-pane", "join-pane", "copy-mode"],
]);

export interface CalmStage {
  socket: string;
  /** Processes of the test, among them its listeners. */
  pids: Iterable<number>;
  /** Resolves with the process ids of the attached clients, one a line. */
  attached(): Promise<string>;
}

/**
 * Runs a tmux command. If tmux notifies control clients of it, the listeners are stopped meanwhile, once none of their
 * clients is half attached. Commands of svc itself are not kept apart: that is svc's own task.
 */
export async function runCalmly<T>(
  args: readonly string[],
  stage: CalmStage,
  command: () => Promise<T>,
): Promise<T> {
  if (!args.some((word) => NOTIFYING.has(word))) return await command();
  const listeners = [...stage.pids].filter((pid) => / listener( |$)/.test(commandOf(pid)));
  // One that the test has stopped itself stays stopped.
  const stopped = listeners.filter((pid) => !isStopped(pid) && send(pid, "SIGSTOP"));
  try {
    if (listeners.length > 0) await until("no half-attached client", () => isCalm(stage, listeners));
    return await command();
  } finally {
    for (const pid of stopped) send(pid, "SIGCONT");
  }
}

async function isCalm({ socket, attached }: CalmStage, listeners: readonly number[]): Promise<boolean> {
  const own = new Set(listeners.map(commandOf));
  const all = [...Deno.readDirSync("/proc")].map(({ name }) => Number(name)).filter((pid) => pid > 0);
  const commands = new Map(all.map((pid) => [pid, commandOf(pid)]));
  // A child that has not executed its program yet has the listener's command line.
  const isNew = (pid: number): boolean =>
    own.has(commands.get(pid) ?? "") && listeners.includes(parentOf(pid));
  if (all.some(isNew)) return false;
  const clients = all.filter((pid) => {
    const command = commands.get(pid) ?? "";
    return CONTROL_CLIENT.test(command) && command.includes(` -S ${socket} `);
  });
  if (clients.length === 0) return true;
  const ready = new Set((await attached()).split("\n").map(Number));
  return clients.every((pid) => ready.has(pid) || commandOf(pid) === "");
}

/** The command line of a process; empty once it has ended. */
function commandOf(pid: number): string {
  return read(`/proc/${pid}/cmdline`).split("\0").join(" ").trim();
}

function parentOf(pid: number): number {
  return Number(/^PPid:\t(\d+)$/m.exec(read(`/proc/${pid}/status`))?.[1]);
}

function isStopped(pid: number): boolean {
  return /^State:\tT/m.test(read(`/proc/${pid}/status`));
}

function read(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    const isGone = error instanceof Deno.errors.NotFound || /ESRCH|No such process/.test(String(error));
    if (isGone) return "";
    throw error;
  }
}

/** Whether the process was there to get the signal. */
function send(pid: number, signal: Deno.Signal): boolean {
  try {
    Deno.kill(pid, signal);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
