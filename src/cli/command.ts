/** A command's options and help, by commander; loaded only for commands that are not on a hot path. */
import { Command, CommanderError } from "@commander-js/extra-typings";
import { runtime } from "#runtime";
import { CommandExit, EXIT_USAGE } from "./exit.ts";

interface CommandText {
  /** What follows `svc`. */
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
