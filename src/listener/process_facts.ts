/**
 * Reads from the operating system what tmux does not report about a pane's process: its state, foreground program and
 * version.
 */
import { folderOf } from "../runtime/system.ts";
import type { Commands, Files } from "../runtime/types.ts";
import type { ProcessFacts } from "./inject/guard.ts";
import { isGuardedProgram } from "./inject/programs.ts";
import { agentKindOfProgram, isAgentPackage, parseVersion } from "../agents/profiles.ts";
import { parseJson } from "../protocol/json.ts";

export interface ProcessHost {
  platform: string;
  files: Pick<Files, "readText" | "readLink" | "list">;
  commands: Pick<Commands, "run">;
}

/** Reads a file in /proc. Undefined if the process is gone. */
async function readProc(
  path: string,
  { files }: { files: Pick<Files, "readText"> },
): Promise<string | undefined> {
  return await files.readText(path).catch(() => undefined);
}

export interface FactsOptions {
  /** Whether to look for an agent among the children of the foreground program. */
  findAgent: boolean;
}

/** Reads the facts of a pane's process. One that is gone counts as not stopped, with an unknown foreground program. */
export async function readProcessFacts(
  pid: number,
  host: ProcessHost,
  options: FactsOptions,
): Promise<ProcessFacts> {
  return host.platform === "linux" ? await fromProc(pid, host, options) : await fromPs(pid, host, options);
}

async function fromProc(
  pid: number,
  host: ProcessHost,
  { findAgent }: FactsOptions,
): Promise<ProcessFacts> {
  const folder = `/proc/${pid}`;
  // Read at once: nearly always the pane's process is in the foreground itself.
  const [stat, own, ownCmdline, threads] = await Promise.all([
    readProc(`${folder}/stat`, host),
    readExecutable(pid, host),
    readProc(`${folder}/cmdline`, host),
    findAgent ? threadsOf(pid, host) : [],
  ]);
  const { state, foregroundGroup } = parseStat(stat ?? "");
  const ownArgv = argvOf(ownCmdline);
  const shellBelow = isGuardedProgram(own ?? "", ownArgv);
  const stopped = state === "T" || state === "t";
  if (foregroundGroup <= 0) return { stopped, foreground: "", argv: [], hasAgent: false, shellBelow };
  const isOwn = foregroundGroup === pid;
  const [foreground = "", argv, launches] = isOwn
    ? [own, ownArgv, findAgent && await launchesAgent(pid, threads, host)]
    : await Promise.all([
      readLiving(foregroundGroup, host),
      readProc(`/proc/${foregroundGroup}/cmdline`, host).then(argvOf),
      findAgent &&
      threadsOf(foregroundGroup, host).then((found) => launchesAgent(foregroundGroup, found, host)),
    ]);
  const hasAgent = launches || findAgent && agentKindOfProgram(foreground, argv) !== undefined;
  return { stopped, foreground, argv, hasAgent, shellBelow };
}

function argvOf(cmdline: string | undefined): string[] {
  return (cmdline ?? "").split("\0").filter((argument) => argument !== "");
}

/** Whether a process of this group, below its leader, is an agent. `threads`: the leader's. */
async function launchesAgent(
  group: number,
  threads: readonly string[],
  host: ProcessHost,
): Promise<boolean> {
  const pids = await childrenOf(threads, host);
  for (let at = 0; at < pids.length && at < TREE_MAX; at++) {
    const pid = pids[at] ?? group;
    if (parseStat(await readProc(`/proc/${pid}/stat`, host) ?? "").group !== group) continue;
    const [program, cmdline, children] = await Promise.all([
      readExecutable(pid, host),
      readProc(`/proc/${pid}/cmdline`, host),
      threadsOf(pid, host).then((threads) => childrenOf(threads, host)),
    ]);
    if (agentKindOfProgram(program ?? "", argvOf(cmdline)) !== undefined) return true;
    pids.push(...children);
  }
  return false;
}

/** The `/proc` folders of a process's threads; `THREADS_MAX + 1` of them if there are more. */
async function threadsOf(pid: number, { files }: Pick<ProcessHost, "files">): Promise<string[]> {
  const threads = await files.list(`/proc/${pid}/task`).catch(() => []);
  return threads.slice(0, THREADS_MAX + 1).map((thread) => `/proc/${pid}/task/${thread}`);
}

/** Each thread has its own list of children. */
async function childrenOf(threads: readonly string[], host: Pick<ProcessHost, "files">): Promise<number[]> {
  const lists = await Promise.all(threads.map((thread) => readProc(`${thread}/children`, host)));
  return lists.join(" ").split(/\s+/).map(Number).filter((child) => child > 0);
}

/** The executable of a process that is not about to end. */
async function readLiving(pid: number, host: ProcessHost): Promise<string | undefined> {
  const executable = await readExecutable(pid, host);
  const { ending } = parseStat(await readProc(`/proc/${pid}/stat`, host) ?? "");
  return ending ? undefined : executable;
}

/** Linux appends this to the path of a program that was replaced after it started, for example by an upgrade. */
const REPLACED = / \(deleted\)$/;

/** The executable's name without folders. Another user's process (sudo, su) hides it; its short name is used instead. */
async function readExecutable(pid: number, host: ProcessHost): Promise<string | undefined> {
  try {
    return (await host.files.readLink(`/proc/${pid}/exe`))?.split("/").pop()?.replace(REPLACED, "");
  } catch {
    return (await readProc(`/proc/${pid}/comm`, host))?.trim();
  }
}

/** `PF_EXITING` of a process's flags, and SIGKILL among its pending signals (proc_pid_stat(5)). */
const EXITING_FLAG = 0x4;
const KILL_PENDING = 1 << 8;

export interface ProcessStat {
  state: string;
  parent: number;
  group: number;
  /** Process group in the foreground of its terminal. */
  foregroundGroup: number;
  /** Dead, exiting, or killed and not yet gone: it reads no more input. */
  ending: boolean;
}

/** Parses `/proc/<pid>/stat`; the name in parentheses may contain anything. A process that is gone counts as ending. */
export function parseStat(stat: string): ProcessStat {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state = "", parent = "0", group = "0"] = fields;
  const has = (field: number, bit: number): boolean => (Number(fields[field] ?? 0) & bit) !== 0;
  const ending = ["", "Z", "X", "x"].includes(state) || has(6, EXITING_FLAG) || has(28, KILL_PENDING);
  return {
    state,
    parent: Number(parent),
    group: Number(group),
    foregroundGroup: Number(fields[5] ?? 0),
    ending,
  };
}

async function fromPs(pid: number, host: ProcessHost, { findAgent }: FactsOptions): Promise<ProcessFacts> {
  const [state = "", group = "", own = "", ...ownArgv] = (await ps("stat=,tpgid=,ucomm=,args=", pid, host))
    .split(/\s+/);
  const [groupState = "", program = ""] = Number(group) > 0
    ? (await ps("stat=,ucomm=", Number(group), host)).split(/\s+(.*)/)
    : [];
  const foreground = groupState.startsWith("Z") ? "" : program;
  const argv = Number(group) > 0 ? (await ps("args=", Number(group), host)).split(/\s+/) : [];
  const hasAgent = findAgent &&
    (agentKindOfProgram(foreground, argv) !== undefined || await groupHasAgent(group, host));
  const shellBelow = isGuardedProgram(own, ownArgv);
  return { stopped: state.startsWith("T"), foreground, argv, hasAgent, shellBelow };
}

/** At most this many processes of a tree are checked. */
const TREE_MAX = 32;
/** A program with more threads counts as busy, since not all of them are checked. */
export const THREADS_MAX = 512;

/**
 * True if a thread of the pane's foreground program is running, or waiting for a CPU or disk, so that it may not have
 * read its input yet; or if the tmux server is, so that it may not have drawn the output yet. What the program started
 * in other process groups, such as a build, does not count. Undefined if the system does not report it.
 */
export async function isPaneBusy(
  panePid: number,
  host: Pick<ProcessHost, "files" | "platform">,
): Promise<boolean | undefined> {
  if (host.platform !== "linux") return undefined;
  const statOf = async (path: string) => parseStat(await readProc(`${path}/stat`, host) ?? "");
  const { foregroundGroup, parent } = await statOf(`/proc/${panePid}`);
  const pids = [panePid];
  for (let at = 0; at < pids.length && at < TREE_MAX; at++) {
    const process = pids[at] ?? panePid;
    // A thread other than the first may read the input, or a file on its behalf.
    const threads = await threadsOf(process, host);
    if (process === panePid || (await statOf(`/proc/${process}`)).group === foregroundGroup) {
      if (threads.length > THREADS_MAX || (await Promise.all(threads.map(statOf))).some(isRunning)) {
        return true;
      }
    }
    pids.push(...await childrenOf(threads, host));
  }
  // tmux is checked last: once it is idle too, all that the program wrote is on the screen.
  return isRunning(await statOf(`/proc/${parent}`));
}

/** The process that started this one: of a pane's process its tmux server. Undefined if the system does not report it. */
export async function parentProcess(
  pid: number,
  host: Pick<ProcessHost, "files" | "platform">,
): Promise<number | undefined> {
  if (host.platform !== "linux") return undefined;
  return parseStat(await readProc(`/proc/${pid}/stat`, host) ?? "").parent || undefined;
}

const isRunning = ({ state }: ProcessStat): boolean => state === "R" || state === "D";

/** True if ps shows an agent in this process group. */
async function groupHasAgent(group: string, host: ProcessHost): Promise<boolean> {
  const { stdout } = await host.commands.run(["ps", "-A", "-ww", "-o", "pgid=,args="]);
  return new TextDecoder().decode(stdout).split("\n").some((line) => {
    const [own, ...argv] = line.trim().split(/\s+/);
    return own === group && agentKindOfProgram(argv[0] ?? "", argv) !== undefined;
  });
}

async function ps(columns: string, pid: number, host: ProcessHost): Promise<string> {
  const { stdout } = await host.commands.run(["ps", "-ww", "-o", columns, "-p", String(pid)]);
  return new TextDecoder().decode(stdout).trim();
}

/** How many folders above a program are searched for its package. */
const FOLDERS_ABOVE_MAX = 6;
const SCRIPT = /\.(?:c|m)?js$/;

/** The version of the agent that runs as this process: from its package, else from its path. Undefined if neither shows it, and without /proc. */
export async function runningVersion(
  pid: number,
  { files, platform }: Pick<ProcessHost, "files" | "platform">,
): Promise<string | undefined> {
  if (platform !== "linux") return undefined;
  const argv = (await files.readText(`/proc/${pid}/cmdline`).catch(() => undefined) ?? "").split("\0");
  const program = await files.readLink(`/proc/${pid}/exe`).catch(() => undefined);
  const script = argv.slice(1).find((argument) =>
    !argument.startsWith("-") && (SCRIPT.test(argument) || argument.includes("/bin/"))
  );
  for (const path of [script, program]) {
    const version = path === undefined ? undefined : await versionAt(path, files);
    if (version !== undefined) return version;
  }
  return undefined;
}

async function versionAt(path: string, files: ProcessHost["files"]): Promise<string | undefined> {
  const target = await files.readLink(path).catch(() => undefined);
  const folder = folderOf(path);
  const real = target === undefined ? path : target.startsWith("/") ? target : `${folder}/${target}`;
  const parts = real.split("/");
  for (let above = 1; above <= FOLDERS_ABOVE_MAX && above < parts.length; above++) {
    const text = await files.readText(`${parts.slice(0, -above).join("/")}/package.json`).catch(() =>
      undefined
    );
    const content = text === undefined ? undefined : parseJson(text)?.value;
    if (typeof content !== "object" || content === null || !("name" in content) || !("version" in content)) {
      continue;
    }
    if (isAgentPackage(String(content.name))) return parseVersion(String(content.version));
  }
  const inPath = parts.findLast((part) => /^\d+\.\d+\.\d+/.test(part));
  return inPath === undefined ? undefined : parseVersion(inPath);
}
