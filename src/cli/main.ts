/** Passes the command line to the agent's wrapper or to the command that its first word names. */
import { runtime } from "#runtime";
import { errorText } from "../async/error_text.ts";
import { AGENT_LABELS, isAgentKind } from "../protocol/names.ts";
import { COMMAND_NAMES, helpText, isCommandName, loadCommand } from "./commands.ts";
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
