/** A command's options and help, by commander; loaded only for commands that are not on a hot path. */
import { Command, CommanderError } from "@commander-js/extra-typings";
import { runtime } from "#runtime";
import { CommandExit, EXIT_USAGE, UsageError } from "./output.ts";

/** Takes the arguments after the command's name, and resolves with the exit code. */
export type Run = (args: readonly string[]) => Promise<number>;

/** A command for people, with its line in `svc --help`. */
export interface ListedCommand {
  name: string;
  summary: string;
  /** Empty if it has none. */
  subcommands: readonly string[];
}

export interface CommandText {
  /** The words after `svc`. */
  name: string;
  summary: string;
  /** Lines that work when typed as they are. */
  examples: readonly string[];
}

export function defineCommand({ name, summary, examples }: CommandText): Command {
  const help = ["", "Examples:", ...examples.map((example) => `  ${example}`)].join("\n");
  return new Command(`svc ${name}`)
    .description(summary)
    .helpOption("-h, --help", "print this")
    .addHelpText("after", help)
    .showHelpAfterError(`See: svc ${name} --help`)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => runtime.terminal.write(text),
      writeErr: (text) => runtime.terminal.writeError(text),
      outputError: (text, write) => write(text.replace(/^error: /, "svc: ")),
    });
}

/** For an option that can be repeated: commander keeps only the last value. */
export function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

/** Parses the arguments. Throws CommandExit after it printed the help, or what is wrong with them. */
export function parseOptions<
  C extends { parse(args: readonly string[], options: { from: "user" }): unknown },
>(
  command: C,
  args: readonly string[],
): C {
  try {
    command.parse(args, { from: "user" });
    return command;
  } catch (error) {
    if (error instanceof CommanderError) throw new CommandExit(error.exitCode === 0 ? 0 : EXIT_USAGE);
    throw error;
  }
}

interface CommandGroup extends CommandText {
  subcommands: Readonly<Record<string, Run>>;
  /** Runs the command without a subcommand; left out if it needs one. */
  otherwise?: Run;
}

/** Runs the subcommand that the first argument names. Throws a UsageError that lists them. */
export async function runSubcommand(
  args: readonly string[],
  { subcommands, otherwise, ...text }: CommandGroup,
): Promise<number> {
  const [word, ...rest] = args;
  const subcommand = Object.entries(subcommands).find(([name]) => name === word);
  if (subcommand !== undefined) return await subcommand[1](rest);
  const isOption = word === undefined || word.startsWith("-");
  if (otherwise !== undefined && isOption) return await otherwise(args);
  parseOptions(defineCommand(text), args.filter((argument) => argument === "--help" || argument === "-h"));
  const named = new Intl.ListFormat("en", { type: "disjunction" }).format(Object.keys(subcommands));
  const names = otherwise === undefined ? named : `${named}, or no subcommand`;
  throw new UsageError(
    `Cannot use "${["svc", text.name, ...args].join(" ")}": it takes ${names}. See: svc ${text.name} --help`,
  );
}
