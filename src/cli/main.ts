/** The command line of `svc`: runs the agent or the command that its first word names, of those listed here. */
import { runtime } from "#runtime";
import { errorText } from "../async/error_text.ts";
import { AGENT_LABELS, isAgentKind } from "../protocol/names.ts";
import type { ListedCommand, Run } from "./command.ts";
import { CommandExit, EXIT_FAILED, EXIT_USAGE, inLine, printError, UsageError } from "./output.ts";

/** Used by the listener when it starts an agent. */
const BY_LISTENER = "--by-listener";
/** The same for an agent that it brings back, which must not attach to an existing session. */
const NEW_SESSION = "--new-session";
const LISTED_OPTIONS: readonly string[] = ["--detach", "--version", "--help"];
const OPTIONS: readonly string[] = [...LISTED_OPTIONS, BY_LISTENER, NEW_SESSION, "-h"];
const SEE_HELP = "See: svc --help";

/** Resolves with the exit code: 0 done, 1 failed, 2 used wrongly. Never rejects. */
export async function main(args: readonly string[]): Promise<number> {
  try {
    runtime.followProxies();
    return await dispatch(args);
  } catch (error) {
    if (error instanceof CommandExit) return error.code;
    if (isBrokenPipe(error)) return EXIT_FAILED;
    const { homeFault } = await import("./advice.ts");
    const text = await homeFault(error) ?? await textOf(error);
    printError(isRelays(error) ? inLine(text) : text);
    return error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED;
  }
}

async function textOf(error: unknown): Promise<string> {
  if (!isRelays(error)) return errorText(error);
  const { relayErrorText } = await import("../client/certificate_fault.ts");
  return relayErrorText(error);
}

/** True if the error may hold a relay's words. Checked by name, because its class would load the schemas. */
function isRelays(error: unknown): boolean {
  return error instanceof Error && error.name === "RelayError";
}

/** True if the reader of the output has gone, as in `svc logs | head -1`, so that no error needs to be printed. */
function isBrokenPipe(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EPIPE";
}

async function dispatch(args: readonly string[]): Promise<number> {
  const first = args.findIndex((word) => !word.startsWith("-"));
  const options = first < 0 ? args : args.slice(0, first);
  const [detach, byListener] = [options.includes("--detach"), options.includes(BY_LISTENER)];
  const isNew = options.includes(NEW_SESSION);
  const unknown = options.find((word) => !OPTIONS.includes(word));
  if (unknown !== undefined) throw await unknownWord("option", unknown);
  if (options.includes("--version")) return await printVersion();
  if (options.includes("--help") || options.includes("-h")) return await printHelp(options);
  if (first < 0 && options.length > 0) {
    throw new UsageError(`${options[0]} needs an agent, as in: svc --detach cc. ${SEE_HELP}`);
  }
  if (first < 0) return await printHelp(options);
  const word = args[first] ?? "";
  const rest = args.slice(first + 1);
  if (isAgentKind(word)) {
    const { runAgent } = await import("./agent.ts");
    return await runAgent(word, rest, { detach, byListener, isNew });
  }
  if (word === "help") return await helpOn(rest);
  if (detach) throw new UsageError(`--detach is for agents only, and "${word}" is not one. ${SEE_HELP}`);
  if (!isCommandName(word)) throw await unknownWord("command", word);
  const run = await loadCommand(word);
  return await run(rest);
}

/** An agent's own `--help` belongs to the agent, and would start it. */
async function helpOn(topic: readonly string[]): Promise<number> {
  const isAgent = topic[0] === undefined || isAgentKind(topic[0]);
  return await dispatch(isAgent ? ["--help"] : [...topic, "--help"]);
}

/** Suggests options too: `svc version` is probably meant as `svc --version`. */
async function unknownWord(what: "command" | "option", word: string): Promise<UsageError> {
  const { nearest } = await import("./advice.ts");
  const guess = nearest(word, [...Object.keys(AGENT_LABELS), ...COMMAND_NAMES, ...LISTED_OPTIONS]);
  const hint = guess === undefined ? "" : ` Did you mean "${guess}"?`;
  return new UsageError(`Unknown ${what} "${word}".${hint} ${SEE_HELP}`);
}

async function printVersion(): Promise<number> {
  const { VERSION } = await import("../protocol/version.ts");
  runtime.terminal.write(`${VERSION}\n`);
  return 0;
}

/** `svc` alone is wrong usage: the same text goes to stderr. */
async function printHelp(options: readonly string[]): Promise<number> {
  const { VERSION } = await import("../protocol/version.ts");
  const wasAsked = options.length > 0;
  if (wasAsked) runtime.terminal.write(helpText(VERSION));
  else runtime.terminal.writeError(helpText(VERSION));
  return wasAsked ? 0 : EXIT_USAGE;
}

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
