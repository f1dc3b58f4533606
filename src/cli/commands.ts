/** The commands of `svc`, each with its line in `svc --help`; main.ts loads them. */
import { AGENT_LABELS } from "../protocol/names.ts";

/** Undefined: only svc itself calls it. */
export const COMMANDS = {
  up: "start the relay and the listener here, and show the link for the phone",
  server: "run the relay; server backup FILE copies its store, migrate moves it",
  pair: "pair one phone: print its link and QR code, and wait for it",
  devices: "list the account's devices; devices revoke ID locks one out",
  keys: "create, list and revoke API keys",
  listener: "run the listener here; --restart or --stop the daemon",
  sessions: "list the sessions that a phone can reach",
  send: "type a message into a session, and report what happens to it",
  status: "show the listener, the relay and the sessions on one screen",
  logs: "show the listener's log, or the audit of remote input",
  verify: "check the setup, and say how to fix it",
  agents: "check that svc recognizes the agents' screens, or record one",
  "remote-hook": "what an agent's prompt hook runs: informs the model who is driving",
  hook: "what an agent's other hooks run: reports to the listener",
  setup: "register svc's hooks and tools with the agents; --remove undoes it",
  keep: "start a session again after a reboot; --off undoes it",
  mute: "silence a project: no remote mode, no messages",
  unmute: "undo mute",
  mcp: "the MCP server that agents start on stdio: svc_ask and the other tools",
  service: "install, remove or show the relay or the listener as a service",
  upgrade: "print the commands that upgrade this svc; --run runs them",
  completions: "print the completion script for bash, zsh or fish",
  "echo-agent": undefined,
} as const satisfies Readonly<Record<string, string | undefined>>;

/** The subcommands of the commands that have them. */
export const SUBCOMMANDS = {
  server: ["backup", "migrate"],
  devices: ["revoke", "release"],
  keys: ["create", "list", "revoke"],
  agents: ["check", "record"],
  service: ["install", "remove", "status"],
} as const satisfies Partial<Record<keyof typeof COMMANDS, readonly string[]>>;

export type CommandName = keyof typeof COMMANDS;

export function isCommandName(word: string): word is CommandName {
  return Object.hasOwn(COMMANDS, word);
}

/** The commands for people, each with its summary. */
export function listedCommands(): { name: CommandName; summary: string }[] {
  return Object.keys(COMMANDS).filter(isCommandName).flatMap((name) => {
    const summary = COMMANDS[name];
    return summary === undefined ? [] : [{ name, summary }];
  });
}

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
