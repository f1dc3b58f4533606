/** The commands of `svc`: the line of each in `svc --help`, its subcommands, and the file that runs it. */
import { AGENT_LABELS } from "../protocol/names.ts";
import type { ListedCommand, Run } from "./command.ts";

interface Command {
  /** Undefined: only svc itself calls it. */
  summary: string | undefined;
  /** Left out if it has none. */
  subcommands?: readonly string[];
  /** Called when the command is: "lazy-dynamic-imports" in deno.json keeps Deno from reading its files earlier. */
  load(): Promise<Run>;
}

const COMMANDS = {
  up: {
    summary: "start the relay and the listener here, and show the link for the phone",
    load: async () => (await import("./up.ts")).run,
  },
  server: {
    summary: "run the relay; server backup FILE copies its store, migrate moves it",
    subcommands: ["backup", "migrate"],
    load: async () => (await import("./server.ts")).run,
  },
  pair: {
    summary: "pair one phone: print its link and QR code, and wait for it",
    load: async () => (await import("./pair.ts")).run,
  },
  devices: {
    summary: "list the account's devices; devices revoke ID locks one out",
    subcommands: ["revoke", "release"],
    load: async () => (await import("./devices.ts")).run,
  },
  keys: {
    summary: "create, list and revoke API keys",
    subcommands: ["create", "list", "revoke"],
    load: async () => (await import("./keys.ts")).run,
  },
  listener: {
    summary: "run the listener here; --restart or --stop the daemon",
    load: async () => (await import("./listener.ts")).run,
  },
  sessions: {
    summary: "list the sessions that a phone can reach",
    load: async () => (await import("./sessions.ts")).run,
  },
  send: {
    summary: "type a message into a session, and report what happens to it",
    load: async () => (await import("./send.ts")).run,
  },
  status: {
    summary: "show the listener, the relay and the sessions on one screen",
    load: async () => (await import("./status.ts")).run,
  },
  logs: {
    summary: "show the listener's log, or the audit of remote input",
    load: async () => (await import("./logs.ts")).run,
  },
  verify: {
    summary: "check the setup, and say how to fix it",
    load: async () => (await import("./verify.ts")).run,
  },
  agents: {
    summary: "check that svc recognizes the agents' screens, or record one",
    subcommands: ["check", "record"],
    load: async () => (await import("./agents.ts")).run,
  },
  "remote-hook": {
    summary: "what an agent's prompt hook runs: informs the model who is driving",
    load: async () => (await import("./hook.ts")).runPromptHook,
  },
  hook: {
    summary: "what an agent's other hooks run: reports to the listener",
    load: async () => (await import("./hook.ts")).runEventHook,
  },
  setup: {
    summary: "register svc's hooks and tools with the agents; --remove undoes it",
    load: async () => (await import("./setup.ts")).run,
  },
  keep: {
    summary: "start a session again after a reboot; --off undoes it",
    load: async () => (await import("./keep.ts")).run,
  },
  mute: {
    summary: "silence a project: no remote mode, no messages",
    load: async () => (await import("./mute.ts")).runMute,
  },
  unmute: {
    summary: "undo mute",
    load: async () => (await import("./mute.ts")).runUnmute,
  },
  mcp: {
    summary: "the MCP server that agents start on stdio: svc_ask and the other tools",
    load: async () => (await import("./mcp.ts")).run,
  },
  service: {
    summary: "install, remove or show the relay or the listener as a service",
    subcommands: ["install", "remove", "status"],
    load: async () => (await import("./service.ts")).run,
  },
  upgrade: {
    summary: "print the commands that upgrade this svc; --run runs them",
    load: async () => (await import("./upgrade.ts")).run,
  },
  completions: {
    summary: "print the completion script for bash, zsh or fish",
    load: async () => (await import("./completions.ts")).completionsOf(listedCommands()),
  },
  "echo-agent": {
    summary: undefined,
    load: async () => (await import("./echo_agent.ts")).run,
  },
} as const satisfies Readonly<Record<string, Command>>;

export type CommandName = keyof typeof COMMANDS;

export const COMMAND_NAMES = Object.keys(COMMANDS).filter(isCommandName);

export function isCommandName(word: string): word is CommandName {
  return Object.hasOwn(COMMANDS, word);
}

export async function loadCommand(name: CommandName): Promise<Run> {
  return await COMMANDS[name].load();
}

export function listedCommands(): ListedCommand[] {
  return COMMAND_NAMES.flatMap((name) => {
    const { summary, subcommands = [] }: Command = COMMANDS[name];
    return summary === undefined ? [] : [{ name, summary, subcommands }];
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
