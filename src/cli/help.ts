/** `svc --help`, written from the tables of agents and commands. */
import { AGENT_LABELS } from "../protocol/names.ts";
import { COMMANDS } from "./commands.ts";

export function helpText(version: string): string {
  const agents = Object.entries(AGENT_LABELS).map(([kind, label]) => row(kind, label));
  const commands = Object.entries(COMMANDS).flatMap(([name, { summary }]) =>
    summary ? [row(name, summary)] : []
  );
  return [
    `svc ${version} — your phone types into your terminal agents`,
    "",
    "Usage: svc [--detach] <agent> [words for the agent…]",
    "       svc <command> [options]",
    "",
    "Agents, each in a tmux session of its own:",
    ...agents,
    "",
    "Commands:",
    ...commands,
    "",
    "Options, before the agent or the command:",
    row("--detach", "start the session without attaching, and print its name"),
    row("--version", "print the version"),
    row("--help", "print this; after a command, its own help"),
    "",
    "Examples:",
    "  svc cc --resume        Claude in the session svc-<project>, with --resume",
    '  svc send svc-app "go on"',
    "",
  ].join("\n");
}

function row(name: string, text: string): string {
  return `  ${name.padEnd(12)} ${text}`;
}
