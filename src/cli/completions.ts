/**
 * `svc completions`: completion scripts for three shells, from the table of commands. They never evaluate what is on the
 * command line. A command's options are those in its help, which is asked for commands only: `--help` after an agent's
 * name would start the agent.
 */
import { AGENT_LABELS } from "../protocol/names.ts";
import { defineCommand, type ListedCommand, parseOptions, type Run } from "./command.ts";
import { print, UsageError } from "./output.ts";
import { SERVICE_NAMES } from "./service/manager.ts";

/** A first word, with its description. */
interface Word {
  name: string;
  summary: string;
}

export function completionsOf(commands: readonly ListedCommand[]): Run {
  return (args) => run(args, commands);
}

async function run(args: readonly string[], commands: readonly ListedCommand[]): Promise<number> {
  const command = defineCommand({
    name: "completions",
    summary: "Print the completion script for a shell: bash, zsh or fish.",
    examples: [
      ...installLines("bash", "~/.local/share/bash-completion/completions/svc"),
      ...installLines("zsh", "~/.zfunc/_svc"),
      ...installLines("fish", "~/.config/fish/completions/svc.fish"),
    ],
  }).argument("<shell>", "bash, zsh or fish");
  const [shell] = parseOptions(command, args).processedArgs;
  const script = Object.entries(SCRIPTS).find(([name]) => name === shell)?.[1];
  if (script === undefined) {
    throw new UsageError(
      `Cannot complete for "${shell}": the shells are ${Object.keys(SCRIPTS).join(", ")}.`,
    );
  }
  print(script(commands));
  return await Promise.resolve(0);
}

function installLines(shell: string, file: string): string[] {
  return [`mkdir -p ${file.slice(0, file.lastIndexOf("/"))}`, `svc completions ${shell} > ${file}`];
}

function firstWords(commands: readonly Word[]): Word[] {
  const agents = Object.entries(AGENT_LABELS).map(([name, label]) => ({ name, summary: label }));
  return [...agents, ...commands];
}

/** Sed's program for the long options in a command's help. */
const OPTION_LINES = String.raw`s/^ *\(-[a-z], \)\{0,1\}\(--[a-z][a-z-]*\).*/\2/p`;

const SERVICES = SERVICE_NAMES.join(" ");

function commandNames(commands: readonly Word[], separator: string): string {
  return commands.map(({ name }) => name).join(separator);
}

function groupsOf(commands: readonly ListedCommand[]): ListedCommand[] {
  return commands.filter(({ subcommands }) => subcommands.length > 0);
}

/** One line for each command that has subcommands. */
function perGroup(commands: readonly ListedCommand[], line: (name: string, words: string) => string): string {
  return groupsOf(commands).map(({ name, subcommands }) => line(name, subcommands.join(" "))).join("\n");
}

/**
 * Needs no bash-completion package and defines no globals but its function. `compgen -W` expands its words as the shell
 * does, so session names, which are data, do not go through it. `filenames` quotes words, but also ends one with a slash
 * where a folder of that name is: only files and folders get it, and session names are quoted by `printf`.
 */
export function bashScript(commands: readonly ListedCommand[]): string {
  const first = [...firstWords(commands).map(({ name }) => name), "--detach", "--help", "--version"].join(
    " ",
  );
  return `# bash completion of svc
_svc() {
  local name group="" word="\${COMP_WORDS[COMP_CWORD]}" command="\${COMP_WORDS[1]}"
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "${first}" -- "$word"))
    return
  fi
  case "$command" in
${perGroup(commands, (name, list) => `    ${name}) group="${list}" ;;`)}
  esac
  if [[ $word == -* ]]; then
    case "$command" in
      ${commandNames(commands, " | ")})
        local -a called=("$command")
        [[ " $group " == *" \${COMP_WORDS[2]} "* ]] && called+=("\${COMP_WORDS[2]}")
        COMPREPLY=($(compgen -W "$(svc "\${called[@]}" --help 2>/dev/null | sed -n '${OPTION_LINES}')" -- "$word"))
        return ;;
    esac
  fi
  case "$command" in
    send)
      if ((COMP_CWORD == 2)); then
        while IFS= read -r name; do
          [[ $name == "$word"* ]] && COMPREPLY+=("$(printf '%q' "$name")")
        done < <(svc sessions --names 2>/dev/null)
      fi
      ;;
    completions) COMPREPLY=($(compgen -W "bash zsh fish" -- "$word")) ;;
    mute | unmute) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$word")) ;;
    service)
      ((COMP_CWORD == 2)) || group="${SERVICES}"
      COMPREPLY=($(compgen -W "$group" -- "$word"))
      ;;
    *)
      if [[ -n $group ]] && ((COMP_CWORD == 2)); then
        COMPREPLY=($(compgen -W "$group" -- "$word"))
      else
        compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$word"))
      fi
      ;;
  esac
}
complete -F _svc svc`;
}

export function zshScript(commands: readonly ListedCommand[]): string {
  const described = firstWords(commands).map(({ name, summary }) =>
    `    '${name}:${summary.replaceAll("'", "'\\''")}'`
  )
    .join("\n");
  return `#compdef svc
_svc() {
  local -a words_of_svc sessions group called
  words_of_svc=(
${described}
  )
  if ((CURRENT == 2)); then
    _describe 'agent or command' words_of_svc
    return
  fi
  case "\${words[2]}" in
${perGroup(commands, (name, list) => `    ${name}) group=(${list}) ;;`)}
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then
    case "\${words[2]}" in
      ${commandNames(commands, "|")})
        called=("\${words[2]}")
        ((\${group[(Ie)\${words[3]}]})) && called+=("\${words[3]}")
        compadd -- \${(f)"$(svc "\${called[@]}" --help 2>/dev/null | sed -n '${OPTION_LINES}')"}
        return ;;
    esac
  fi
  case "\${words[2]}" in
    send)
      sessions=(\${(f)"$(svc sessions --names 2>/dev/null)"})
      ((CURRENT == 3)) && compadd -a sessions
      ;;
    completions) compadd bash zsh fish ;;
    mute | unmute) _files -/ ;;
    service) ((CURRENT == 3)) || group=(${SERVICES}); compadd -a group ;;
    *)
      if ((CURRENT == 3 && \${#group})); then
        compadd -a group
      else
        _files
      fi
      ;;
  esac
}
if [[ "$funcstack[1]" == _svc ]]; then
  _svc "$@"
else
  compdef _svc svc
fi`;
}

export function fishScript(commands: readonly ListedCommand[]): string {
  const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  return [
    "# fish completion of svc",
    "function __svc_options",
    "  set -l words (commandline -opc)",
    `  contains -- "$words[2]" ${commandNames(commands, " ")}; or return`,
    "  set -l called $words[2]",
    '  switch "$words[2] $words[3]"',
    `    case ${
      groupsOf(commands).flatMap(({ name, subcommands }) => subcommands.map((word) => `"${name} ${word}"`))
        .join(" ")
    }`,
    "      set -a called $words[3]",
    "  end",
    `  svc $called --help 2>/dev/null | sed -n '${OPTION_LINES}'`,
    "end",
    ...firstWords(commands).map(({ name, summary }) =>
      `complete -c svc -n __fish_use_subcommand -f -a ${name} -d ${quoted(summary)}`
    ),
    "complete -c svc -n __fish_use_subcommand -f -l detach -d 'start without attaching'",
    perGroup(
      commands,
      (name, list) =>
        `complete -c svc -n '__fish_seen_subcommand_from ${name}; and not __fish_seen_subcommand_from ${list}' -f -a '${list}'`,
    ),
    "complete -c svc -n 'string match -q -- \"-*\" (commandline -ct)' -f -a '(__svc_options)'",
    "complete -c svc -n '__fish_seen_subcommand_from send' -f -a '(svc sessions --names 2>/dev/null)'",
    "complete -c svc -n '__fish_seen_subcommand_from completions' -f -a 'bash zsh fish'",
    `complete -c svc -n '__fish_seen_subcommand_from service; and __fish_seen_subcommand_from install remove' -f -a '${SERVICES}'`,
    "complete -c svc -n '__fish_seen_subcommand_from mute unmute' -f -a '(__fish_complete_directories)'",
  ].join("\n");
}

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
