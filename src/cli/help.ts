/** `svc --help`, written from the tables of agents and commands. */
import { AGENT_LABELS } from "../protocol/names.ts";
import { listedCommands } from "./commands.ts";

export function helpText(version: string): string {
  return [
    `svc ${version} — your phone types into your terminal agents`,
    "",
    "Usage: svc [--detach] <agent> [arguments for the agent…]",
    "       svc <command> [options]",
    "",
    "Agents, each in a tmux session of its own:",
    ...Object.entries(AGENT_LABELS).map(([kind, label]) => row(kind, label)),
    "",
    "Commands:",
    ...listedCommands().map(({ name, summary }) => row(name, summary)),
    "",
    "Options, before the agent or the command:",
    row("--detach", "start the session without attaching, and print its name"),
    row("--version", "print the version"),
    row("--help", "print this; after a command, that command's help"),
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
