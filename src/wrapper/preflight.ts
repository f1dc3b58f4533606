/** What a wrapper run checks before anything is created: its project, the agent's program, tmux and the terminal. */
import type { AgentProfile } from "../agents/profile.ts";
import type { Commands, Files, Terminal } from "../runtime/types.ts";
import { projectName } from "../protocol/names.ts";

export interface Project {
  name: string;
  /** Absolute path that the name is taken from. */
  root: string;
}

const PROJECT_VARIABLES = ["CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR", "WINDSURF_PROJECT_DIR"] as const;

interface ProjectPlace {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  files: Pick<Files, "info" | "realPath">;
}

/**
 * Which project a wrapper run belongs to (docs/specification.md, "Wrapper"). The first of: the variables of the editors, the
 * git repository's root, the working directory.
 */
export async function resolveProject(place: ProjectPlace): Promise<Project> {
  const named = PROJECT_VARIABLES.map((name) => place.env[name]).find((value) => value);
  const directory = named ?? await gitRoot(place) ?? place.cwd;
  const root = await place.files.realPath(directory) ?? directory;
  return { name: projectName(named?.startsWith("/") ? named : root), root };
}

/** The nearest directory that contains `.git`: a directory, or in a worktree or submodule a file. */
async function gitRoot({ cwd, files }: ProjectPlace): Promise<string | undefined> {
  for (let directory = cwd; directory !== ""; directory = directory.slice(0, directory.lastIndexOf("/"))) {
    if (await files.info(`${directory}/.git`)) return directory;
  }
  return undefined;
}

export interface PreflightHost {
  commands: Pick<Commands, "run" | "which">;
  terminal: Pick<Terminal, "isInputTerminal" | "isOutputTerminal">;
  /** argv that runs this program again: the echo agent is part of it. */
  selfCommand: () => string[];
}

/** The built-in agent's program. */
const SELF = "svc";

/** argv of the agent with its profile's arguments. Throws Error that says how to install it. */
export async function agentCommand(host: PreflightHost, profile: AgentProfile): Promise<string[]> {
  if (profile.binary === SELF) return [...host.selfCommand(), ...profile.args];
  const path = await host.commands.which(profile.binary);
  if (path !== undefined) return [path, ...profile.args];
  throw new Error(
    `Cannot start ${profile.label}: "${profile.binary}" is not on PATH. Install it with: ${profile.install}`,
  );
}

/** Throws Error when there is no terminal to attach. */
export function checkTerminal(host: PreflightHost, profile: AgentProfile): void {
  if (host.terminal.isInputTerminal() && host.terminal.isOutputTerminal()) return;
  throw new Error(
    `Cannot attach ${profile.label}: this is not a terminal. To start it without one, run: svc --detach ${profile.kind}`,
  );
}

/**
 * Throws Error when tmux is missing or too old. `running`: the version of the running server; "" checks the installed
 * one.
 */
export async function checkTmux(
  host: PreflightHost,
  profile: AgentProfile,
  { running }: { running: string },
): Promise<void> {
  const problem = tmuxProblem(running === "" ? await installedTmux(host.commands) : `tmux ${running}`);
  if (problem === undefined) return;
  const hint = await tmuxInstallHint(host.commands);
  throw new Error(
    `Cannot start ${profile.label}: ${problem}. ${hint.charAt(0).toUpperCase()}${hint.slice(1)}`,
  );
}

/** What `tmux -V` prints; undefined when tmux is not installed. */
export async function installedTmux(commands: Pick<Commands, "run">): Promise<string | undefined> {
  const { code, stdout } = await commands.run(["tmux", "-V"]);
  return code === 0 ? new TextDecoder().decode(stdout).trim() : undefined;
}

/** The first version with `new-session -e`. */
const TMUX_OLDEST = { major: 3, minor: 2 } as const;

/** Why svc cannot use the tmux whose `tmux -V` printed this; undefined if it can. */
export function tmuxProblem(version: string | undefined): string | undefined {
  if (version === undefined) return "tmux is not installed";
  const oldest = `${TMUX_OLDEST.major}.${TMUX_OLDEST.minor}`;
  return isTmuxTooOld(version) ? `${version} is too old: svc needs ${oldest} or newer` : undefined;
}

/** A version without a number (`tmux master`) counts as new enough. */
export function isTmuxTooOld(printed: string): boolean {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(printed) ?? [];
  if (major === undefined || /openbsd/.test(printed)) return false;
  const difference = Number(major) - TMUX_OLDEST.major || Number(minor) - TMUX_OLDEST.minor;
  return difference < 0;
}

/** Package managers, each by its program. */
const INSTALLERS: readonly [program: string, command: string][] = [
  ["apt-get", "sudo apt-get install -y tmux"],
  ["dnf", "sudo dnf install -y tmux"],
  ["pacman", "sudo pacman -S tmux"],
  ["apk", "sudo apk add tmux"],
  ["zypper", "sudo zypper install tmux"],
  ["brew", "brew install tmux"],
];

/** The command of the first package manager on PATH, else where to read about it. */
export async function tmuxInstallHint(commands: Pick<Commands, "which">): Promise<string> {
  for (const [program, command] of INSTALLERS) {
    if (await commands.which(program) !== undefined) return `install it with: ${command}`;
  }
  return "install it as described at https://github.com/tmux/tmux/wiki/Installing";
}
