/** Looks, before anything is made, whether a session can be: the agent's program, tmux, a terminal. */
import type { AgentProfile } from "../agents/profile.ts";
import type { Commands, Terminal } from "../runtime/types.ts";
import { tmuxInstallHint } from "./install_hint.ts";
import { isTmuxTooOld, TMUX_OLDEST } from "./tmux_version.ts";

export interface PreflightHost {
  commands: Pick<Commands, "run" | "which">;
  terminal: Pick<Terminal, "isInputTerminal" | "isOutputTerminal">;
  /** argv that runs this program again: the echo agent is a part of it. */
  selfCommand: () => string[];
}

/** The built-in agent's program. */
const SELF = "svc";

/** argv of the agent with its own first words; throws one sentence that says how it is installed. */
export async function agentCommand(host: PreflightHost, profile: AgentProfile): Promise<string[]> {
  if (profile.binary === SELF) return [...host.selfCommand(), ...profile.args];
  const path = await host.commands.which(profile.binary);
  if (path !== undefined) return [path, ...profile.args];
  throw new Error(
    `Cannot start ${profile.label}: "${profile.binary}" is not on PATH. Install it with: ${profile.install}`,
  );
}

/** Throws one sentence when tmux is missing or too old. A running server has told its version, else tmux is asked. */
export async function checkTmux(
  host: PreflightHost,
  profile: AgentProfile,
  { running }: { running: string },
): Promise<void> {
  const fault = tmuxFault(running === "" ? await installedTmux(host) : `tmux ${running}`);
  if (fault === undefined) return;
  const hint = await tmuxInstallHint((program) => host.commands.which(program));
  throw new Error(`Cannot start ${profile.label}: ${fault}. Install it with: ${hint}`);
}

/** What `tmux -V` prints; undefined when there is no tmux. */
async function installedTmux(host: PreflightHost): Promise<string | undefined> {
  const { code, stdout } = await host.commands.run(["tmux", "-V"]);
  return code === 0 ? new TextDecoder().decode(stdout).trim() : undefined;
}

function tmuxFault(version: string | undefined): string | undefined {
  if (version === undefined) return "tmux is not installed";
  const oldest = `${TMUX_OLDEST.major}.${TMUX_OLDEST.minor}`;
  return isTmuxTooOld(version) ? `${version} is too old, ${oldest} is the oldest that will do` : undefined;
}

/** Throws one sentence when there is no terminal to attach. */
export function checkTerminal(host: PreflightHost, profile: AgentProfile): void {
  if (host.terminal.isInputTerminal() && host.terminal.isOutputTerminal()) return;
  throw new Error(
    `Cannot attach ${profile.label}: this is no terminal. To start it without one, run: svc --detach ${profile.kind}`,
  );
}
