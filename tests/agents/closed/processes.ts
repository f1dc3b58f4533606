/** The processes under an agent: finds stopped ones, and programs that a person uses at a terminal. */
import { treeOf } from "../end_tree.ts";

export interface Process {
  pid: number;
  name: string;
  argv: string[];
  /** The state's letter in /proc. */
  state: string;
  /** The device number of its terminal; 0 without one. */
  tty: number;
}

/** Editors, pagers and similar programs, none of which an agent runs for itself. */
const TERMINAL_PROGRAMS = new Set([
  ...["vi", "vim", "nvim", "vim.basic", "vim.tiny", "nano", "pico", "emacs", "ed", "ex", "micro", "helix"],
  ...["less", "more", "most", "man", "top", "htop", "mc", "ranger", "tmux", "screen", "ssh"],
]);
const SHELLS = new Set(["sh", "bash", "dash", "zsh", "fish", "ksh", "ash"]);

export async function readProcess(pid: number): Promise<Process | undefined> {
  try {
    const [stat, argv] = await Promise.all(
      ["stat", "cmdline"].map((name) => Deno.readTextFile(`/proc/${pid}/${name}`)),
    );
    const end = stat?.lastIndexOf(")") ?? 0;
    const [state = "", , , , tty = "0"] = stat?.slice(end + 2).split(" ") ?? [];
    const name = stat?.slice(stat.indexOf("(") + 1, end) ?? "";
    return { pid, name, argv: argv?.split("\0").slice(0, -1) ?? [], state, tty: Number(tty) };
  } catch {
    return undefined;
  }
}

/** Returns the agent's process and all its descendants. */
export async function processesUnder(root: number): Promise<Process[]> {
  const found = await Promise.all((await treeOf(root)).map(readProcess));
  return found.filter((process) => process !== undefined);
}

/** True for a shell that waits for a person: it has neither a script nor a command. */
function isInteractiveShell({ name, argv }: Process): boolean {
  return SHELLS.has(name) &&
    argv.slice(1).every((arg) => /^-{1,2}[a-z]*$/.test(arg) && !/^-[a-z]*c/.test(arg));
}

/** True for git's transports: the agent fetches its plugins' repositories and first checks whether it has access. */
function isGitTransport({ name, argv }: Process): boolean {
  if (name !== "ssh") return false;
  const asksAccess = argv.includes("-T") && argv.includes("BatchMode=yes") &&
    argv.at(-1) === "git@github.com";
  return asksAccess || argv.some((arg) => arg.startsWith("git-upload-pack"));
}

/** True for a command with which an agent asks tmux about its terminal; it prints and ends. */
function isTmuxQuestion({ name, argv }: Process): boolean {
  return name === "tmux" && argv[1] === "display-message" && argv[2] === "-p";
}

/**
 * Describes what is wrong with the processes, one sentence each. A process with an empty command line is just ending.
 */
export function processFaults(processes: readonly Process[]): string[] {
  const living = processes.filter((process) =>
    process.argv.length > 0 && !isGitTransport(process) && !isTmuxQuestion(process)
  );
  return living.flatMap((process) => {
    const { pid, name, state, tty, argv } = process;
    const what = `${name} (${pid}: ${argv.join(" ").slice(0, 100)})`;
    if (state === "T" && tty !== 0) return [`stopped: ${what}`];
    if (TERMINAL_PROGRAMS.has(name)) return [`another program: ${what}`];
    return tty !== 0 && isInteractiveShell(process) ? [`a shell: ${what}`] : [];
  });
}

/** Returns every living process whose environment names the folder: leftovers of a throw-away home. */
export async function processesOf(folder: string): Promise<Process[]> {
  const found: Process[] = [];
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const environment = await Deno.readTextFile(`/proc/${name}/environ`).catch(() => "");
    const process = environment.includes(`HOME=${folder}/home`) ? await readProcess(Number(name)) : undefined;
    if (process !== undefined && process.state !== "Z") found.push(process);
  }
  return found;
}
