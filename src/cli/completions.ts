/** `svc completions`: scripts for three shells, which run nothing that stands on the command line. */
import { AGENT_LABELS } from "../protocol/names.ts";
import { defineCommand, parseWords } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { bashScript } from "./completions/bash.ts";
import { fishScript } from "./completions/fish.ts";
import { zshScript } from "./completions/zsh.ts";
import { UsageError } from "./exit.ts";
import { print } from "./output.ts";

/** A first word, with what is said of it. */
export interface Word {
  name: string;
  summary: string;
}

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

export function firstWords(): Word[] {
  const agents = Object.entries(AGENT_LABELS).map(([name, label]) => ({ name, summary: label }));
  const commands = Object.entries(COMMANDS).flatMap(([name, { summary }]) =>
    summary ? [{ name, summary }] : []
  );
  return [...agents, ...commands];
}

export async function run(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "completions",
    summary: "Print the completion script of a shell: bash, zsh or fish.",
    examples: [
      "svc completions bash > ~/.local/share/bash-completion/completions/svc",
      "svc completions zsh > ~/.zfunc/_svc",
      "svc completions fish > ~/.config/fish/completions/svc.fish",
    ],
  }).argument("<shell>", "bash, zsh or fish");
  const [shell] = parseWords(command, args).processedArgs;
  const script = Object.entries(SCRIPTS).find(([name]) => name === shell)?.[1];
  if (script === undefined) {
    throw new UsageError(
      `Cannot complete for "${shell}": the shells are ${Object.keys(SCRIPTS).join(", ")}.`,
    );
  }
  print(script(firstWords()));
  return await Promise.resolve(0);
}
