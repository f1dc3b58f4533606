/** `svc completions`: completion scripts for three shells. They never evaluate what is on the command line. */
import { AGENT_LABELS } from "../protocol/names.ts";
import { defineCommand, parseOptions } from "./command.ts";
import { listedCommands } from "./commands.ts";
import { UsageError } from "./exit.ts";
import { print } from "./output.ts";

/** A first word, with its description. */
interface Word {
  name: string;
  summary: string;
}

export async function run(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "completions",
    summary: "Print the completion script for a shell: bash, zsh or fish.",
    examples: [
      "svc completions bash > ~/.local/share/bash-completion/completions/svc",
      "svc completions zsh > ~/.zfunc/_svc",
      "svc completions fish > ~/.config/fish/completions/svc.fish",
    ],
  }).argument("<shell>", "bash, zsh or fish");
  const [shell] = parseOptions(command, args).processedArgs;
  const script = Object.entries(SCRIPTS).find(([name]) => name === shell)?.[1];
  if (script === undefined) {
    throw new UsageError(
      `Cannot complete for "${shell}": the shells are ${Object.keys(SCRIPTS).join(", ")}.`,
    );
  }
  print(script(firstWords()));
  return await Promise.resolve(0);
}

export function firstWords(): Word[] {
  const agents = Object.entries(AGENT_LABELS).map(([name, label]) => ({ name, summary: label }));
  return [...agents, ...listedCommands()];
}

/**
 * Needs no bash-completion package and defines no globals but its function. `compgen -W` expands its words as the shell
 * does, so session names, which are data, do not go through it.
 */
export function bashScript(words: readonly Word[]): string {
  const first = [...words.map(({ name }) => name), "--detach", "--help", "--version"].join(" ");
  return `# bash completion of svc
_svc() {
  local name word="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "${first}" -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
    send)
      if ((COMP_CWORD == 2)); then
        while IFS= read -r name; do
          [[ $name == "$word"* ]] && COMPREPLY+=("$name")
        done < <(svc sessions --names 2>/dev/null)
      fi
      ;;
    completions) COMPREPLY=($(compgen -W "bash zsh fish" -- "$word")) ;;
    mute | unmute) COMPREPLY=($(compgen -d -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}
complete -o filenames -F _svc svc`;
}

export function zshScript(words: readonly Word[]): string {
  const described = words.map(({ name, summary }) => `    '${name}:${summary.replaceAll("'", "'\\''")}'`)
    .join("\n");
  return `#compdef svc
_svc() {
  local -a words_of_svc sessions
  words_of_svc=(
${described}
  )
  if ((CURRENT == 2)); then
    _describe 'agent or command' words_of_svc
    return
  fi
  case "\${words[2]}" in
    send)
      sessions=(\${(f)"$(svc sessions --names 2>/dev/null)"})
      ((CURRENT == 3)) && compadd -a sessions
      ;;
    completions) compadd bash zsh fish ;;
    mute | unmute) _files -/ ;;
    *) _files ;;
  esac
}
if [[ "$funcstack[1]" == _svc ]]; then
  _svc "$@"
else
  compdef _svc svc
fi`;
}

export function fishScript(words: readonly Word[]): string {
  const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  return [
    "# fish completion of svc",
    ...words.map(({ name, summary }) =>
      `complete -c svc -n __fish_use_subcommand -f -a ${name} -d ${quoted(summary)}`
    ),
    "complete -c svc -n __fish_use_subcommand -f -l detach -d 'start without attaching'",
    "complete -c svc -n '__fish_seen_subcommand_from send' -f -a '(svc sessions --names 2>/dev/null)'",
    "complete -c svc -n '__fish_seen_subcommand_from completions' -f -a 'bash zsh fish'",
    "complete -c svc -n '__fish_seen_subcommand_from mute unmute' -f -a '(__fish_complete_directories)'",
  ].join("\n");
}

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
