/** Hands the first word to the agent's wrapper or to the command that it names. */
import { runtime } from "#runtime";
import { AGENT_LABELS, isAgentKind } from "../protocol/names.ts";
import { COMMANDS } from "./commands.ts";
import { CommandExit, EXIT_FAILED, EXIT_USAGE, UsageError } from "./exit.ts";
import { printError } from "./output.ts";

/** Resolves with the exit code: 0 done, 1 failed, 2 used wrongly. Never rejects. */
export async function main(args: readonly string[]): Promise<number> {
  try {
    return await dispatch(args);
  } catch (error) {
    if (error instanceof CommandExit) return error.code;
    if (isReaderGone(error)) return EXIT_FAILED;
    printError(error instanceof Error ? error.message : String(error));
    return error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED;
  }
}

/** As in `svc logs | head -1`: nobody is left to be told. */
function isReaderGone(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EPIPE";
}

async function dispatch(args: readonly string[]): Promise<number> {
  const first = args.findIndex((word) => !word.startsWith("-"));
  const options = first < 0 ? args : args.slice(0, first);
  const [detach, byListener] = [options.includes("--detach"), options.includes(BY_LISTENER)];
  const unknown = options.find((word) => !OPTIONS.includes(word));
  if (unknown !== undefined) throw new UsageError(`Unknown option "${unknown}". ${SEE_HELP}`);
  if (options.includes("--version")) return await printVersion();
  if (first < 0 || options.includes("--help") || options.includes("-h")) return await printHelp(options);
  const word = args[first] ?? "";
  const rest = args.slice(first + 1);
  if (isAgentKind(word)) return await (await loadAgent()).runAgent(word, rest, { detach, byListener });
  if (word === "help") return await dispatch([...rest.slice(0, 1), "--help"]);
  if (detach) throw new UsageError(`--detach is for agents only, and "${word}" is none. ${SEE_HELP}`);
  return await (await (await commandNamed(word)).load()).run(rest);
}

const loadAgent = (): Promise<typeof import("./agent.ts")> => import("./agent.ts");
const loadHelp = (): Promise<typeof import("./help.ts")> => import("./help.ts");
const loadNearest = (): Promise<typeof import("./nearest.ts")> => import("./nearest.ts");
const loadVersion = (): Promise<typeof import("../protocol/version.ts")> => import("../protocol/version.ts");

/** Not for people: the listener's own, when it starts an agent. */
const BY_LISTENER = "--by-listener";
const OPTIONS: readonly string[] = ["--detach", BY_LISTENER, "--version", "--help", "-h"];
const SEE_HELP = "See: svc --help";

async function commandNamed(word: string): Promise<(typeof COMMANDS)[string]> {
  const entry = Object.hasOwn(COMMANDS, word) ? COMMANDS[word] : undefined;
  if (entry !== undefined) return entry;
  const { nearest } = await loadNearest();
  const guess = nearest(word, [...Object.keys(AGENT_LABELS), ...Object.keys(COMMANDS)]);
  const hint = guess === undefined ? "" : ` Did you mean "${guess}"?`;
  throw new UsageError(`Unknown command "${word}".${hint} ${SEE_HELP}`);
}

async function printVersion(): Promise<number> {
  const { VERSION } = await loadVersion();
  runtime.terminal.write(`${VERSION}\n`);
  return 0;
}

/** `svc` alone was used wrongly, and gets the same text. */
async function printHelp(options: readonly string[]): Promise<number> {
  const [{ helpText }, { VERSION }] = await Promise.all([loadHelp(), loadVersion()]);
  const wasAsked = options.length > 0;
  if (wasAsked) runtime.terminal.write(helpText(VERSION));
  else runtime.terminal.writeError(helpText(VERSION));
  return wasAsked ? 0 : EXIT_USAGE;
}
