/**
 * `svc completions`: completion scripts for three shells, from the table of commands. They never evaluate what is on
 * the command line. A command's options are read from its help, but only a command's: `--help` after an agent's name
 * would start the agent.
 */
import { folderOf } from "../runtime/system.ts";
import { SETUP_KINDS } from "../agents/registry.ts";
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
  return [`mkdir -p ${folderOf(file)}`, `svc completions ${shell} > ${file}`];
}

const AGENTS: readonly Word[] = Object.entries(AGENT_LABELS).map(([name, label]) => ({
  name,
  summary: label,
}));

function firstWords(commands: readonly Word[]): Word[] {
  return [...AGENTS, ...commands];
}

/** The kinds that `svc agents check` and `svc setup --agent` take. */
const CHECKED = namesOf(AGENTS, " ");
const SET_UP = SETUP_KINDS.join(" ");
const FIRST_OPTIONS = "--detach --help --version";

/** Sed's program for the long options in a command's help. */
const OPTION_LINES = String.raw`s/^ *\(-[a-z], \)\{0,1\}\(--[a-z][a-z-]*\).*/\2/p`;

const SERVICES = SERVICE_NAMES.join(" ");

function namesOf(words: readonly Word[], separator: string): string {
  return words.map(({ name }) => name).join(separator);
}

function groupsOf(commands: readonly ListedCommand[]): ListedCommand[] {
  return commands.filter(({ subcommands }) => subcommands.length > 0);
}

/** One line for each command that has subcommands. */
function perGroup(commands: readonly ListedCommand[], line: (name: string, words: string) => string): string {
  return groupsOf(commands).map(({ name, subcommands }) => line(name, subcommands.join(" "))).join("\n");
}

/** The options of commands whose values are files or folders. */
export const FILE_OPTIONS: readonly string[] = [
  "--as",
  "--nats-ca",
  "--nats-creds",
  "--script",
  "--tls-cert",
  "--tls-key",
];
export const FOLDER_OPTIONS: readonly string[] = ["--data", "--out"];

/** The end of the case, and the value of an option: the same in bash and zsh. */
const END_OF_CASE = `      fi
      ;;
  esac
  [[ $takes == files ]] || case "$before" in
    ${FILE_OPTIONS.join(" | ")}) takes=files ;;
    ${FOLDER_OPTIONS.join(" | ")}) takes=folders ;;
  esac`;

/** Completes an argument at the cursor. Files are for agents, and for the few commands and options that take them. */
const BASH_ARGUMENTS = `  case "$command" in
    ${namesOf(AGENTS, " | ")}) takes=files ;;
    send) ((at == 1)) && takes=sessions ;;
    keep)
      if ((at == 1)) || [[ $before == --off ]]; then takes=sessions
      elif [[ " \${COMP_WORDS[*]:first:at} " == *" -- "* ]]; then takes=files
      fi
      ;;
    setup) [[ $before == --agent ]] && takes="${SET_UP}" ;;
    completions) takes="bash zsh fish" ;;
    mute | unmute) takes=folders ;;
    service) ((at == 1)) && takes="$group" || takes="${SERVICES}" ;;
    *)
      if ((at == 1)); then takes="\${group:-nothing}"
      elif [[ "$command $subcommand" == "agents check" ]]; then takes="${CHECKED}"
      elif [[ "$command $subcommand $at" == "agents record 2" ]]; then takes=sessions
      elif [[ "$command $subcommand $at" == "server backup 2" ]]; then takes=files
${END_OF_CASE}
  case "$takes" in
    files) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$word")) ;;
    folders) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$word")) ;;
    nothing) ;;
    sessions)
      while IFS= read -r name; do
        [[ $name == "$word"* ]] && COMPREPLY+=("$(printf '%q' "$name")")
      done < <(svc sessions --names 2>/dev/null)
      ;;
    *) COMPREPLY=($(compgen -W "$takes" -- "$word")) ;;
  esac`;

/**
 * Needs no bash-completion package and defines no globals but its function. `compgen -W` expands its words as the shell
 * does, so session names, which are data, do not go through it. `filenames` quotes words, but also ends one with a slash
 * where a folder of that name is: only files and folders get it, and session names are quoted by `printf`.
 */
export function bashScript(commands: readonly ListedCommand[]): string {
  const anything = `${namesOf(firstWords(commands), " ")} ${FIRST_OPTIONS}`;
  return `# bash completion of svc
_svc() {
  local name takes=nothing group="" first=1 offered="${anything}"
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD - 1]}"
  COMPREPLY=()
  if ((COMP_CWORD > 1)) && [[ \${COMP_WORDS[1]} == --detach ]]; then
    first=2 offered="${namesOf(AGENTS, " ")}"
  fi
  if ((COMP_CWORD == first)); then
    COMPREPLY=($(compgen -W "$offered" -- "$word"))
    return
  fi
  local command="\${COMP_WORDS[first]}" subcommand="\${COMP_WORDS[first + 1]}" at=$((COMP_CWORD - first))
  case "$command" in
${perGroup(commands, (name, list) => `    ${name}) group="${list}" ;;`)}
    help) group="${namesOf(commands, " ")}" ;;
  esac
  if [[ $word == -* ]]; then
    case "$command" in
      ${namesOf(commands, " | ")})
        local -a called=("$command")
        [[ " $group " == *" $subcommand "* ]] && called+=("$subcommand")
        COMPREPLY=($(compgen -W "$(svc "\${called[@]}" --help 2>/dev/null | sed -n '${OPTION_LINES}')" -- "$word"))
        return ;;
    esac
  fi
${BASH_ARGUMENTS}
}
complete -F _svc svc`;
}

function describedWords(words: readonly Word[]): string {
  return words.map(({ name, summary }) => `    '${name}:${summary.replaceAll("'", "'\\''")}'`).join("\n");
}

const ZSH_ARGUMENTS = `  local takes=nothing before="\${words[CURRENT - 1]}"
  case "\${words[2]}" in
    ${namesOf(AGENTS, "|")}) takes=files ;;
    send) ((CURRENT == 3)) && takes=sessions ;;
    keep)
      if ((CURRENT == 3)) || [[ "$before" == --off ]]; then takes=sessions
      elif ((\${words[(Ie)--]})); then takes=files
      fi
      ;;
    setup) [[ "$before" == --agent ]] && takes=group && group=(${SET_UP}) ;;
    completions) takes=group; group=(bash zsh fish) ;;
    mute | unmute) takes=folders ;;
    service) takes=group; ((CURRENT == 3)) || group=(${SERVICES}) ;;
    *)
      if ((CURRENT == 3)); then takes=group
      elif [[ "\${words[2]} \${words[3]}" == "agents check" ]]; then takes=group; group=(${CHECKED})
      elif [[ "\${words[2]} \${words[3]} $CURRENT" == "agents record 4" ]]; then takes=sessions
      elif [[ "\${words[2]} \${words[3]} $CURRENT" == "server backup 4" ]]; then takes=files
${END_OF_CASE}
  case "$takes" in
    files) _files ;;
    folders) _files -/ ;;
    group) compadd -a group ;;
    sessions)
      sessions=(\${(f)"$(svc sessions --names 2>/dev/null)"})
      compadd -a sessions
      ;;
  esac`;

export function zshScript(commands: readonly ListedCommand[]): string {
  return `#compdef svc
_svc() {
  local -a agents_of_svc words_of_svc sessions group called
  agents_of_svc=(
${describedWords(AGENTS)}
  )
  words_of_svc=(
    $agents_of_svc
${describedWords(commands)}
  )
  if ((CURRENT > 2)) && [[ "\${words[2]}" == --detach ]]; then
    shift words
    ((CURRENT--))
    words_of_svc=($agents_of_svc)
  fi
  if ((CURRENT == 2)); then
    if [[ "\${words[2]}" == -* ]]; then compadd -- ${FIRST_OPTIONS}
    else _describe 'agent or command' words_of_svc
    fi
    return
  fi
  case "\${words[2]}" in
${perGroup(commands, (name, list) => `    ${name}) group=(${list}) ;;`)}
    help) group=(${namesOf(commands, " ")}) ;;
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then
    case "\${words[2]}" in
      ${namesOf(commands, "|")})
        called=("\${words[2]}")
        ((\${group[(Ie)\${words[3]}]})) && called+=("\${words[3]}")
        compadd -- \${(f)"$(svc "\${called[@]}" --help 2>/dev/null | sed -n '${OPTION_LINES}')"}
        return ;;
    esac
  fi
${ZSH_ARGUMENTS}
}
if [[ "$funcstack[1]" == _svc ]]; then
  _svc "$@"
else
  compdef _svc svc
fi`;
}

/** Conditions on the words before the cursor. */
const FISH_CONDITIONS = `function __svc_is_first
  __fish_use_subcommand; and not contains -- --detach (commandline -opc)
end
function __svc_is_help
  set -l words (commandline -opc)
  test "$words" = 'svc help'
end
function __svc_takes_folders
  set -l words (commandline -opc)
  contains -- "$words[2]" ${namesOf(AGENTS, " ")} --detach; and return 1
  contains -- "$words[2]" mute unmute; or contains -- "$words[-1]" ${FOLDER_OPTIONS.join(" ")}
end
function __svc_takes_no_files
  set -l words (commandline -opc)
  contains -- "$words[2]" ${namesOf(AGENTS, " ")} --detach; and return 1
  contains -- -- $words; and return 1
  contains -- "$words[-1]" ${FILE_OPTIONS.join(" ")}; and return 1
  test "$words" != 'svc server backup'
end
function __svc_takes_session
  set -l words (commandline -opc)
  switch "$words[2] $words[3]"
    case 'send *'
      test (count $words) -eq 2
    case 'keep *'
      test (count $words) -eq 2; or test "$words[-1]" = --off
    case 'agents record'
      test (count $words) -eq 3
    case '*'
      return 1
  end
end
function __svc_agents
  set -l words (commandline -opc)
  if test "$words[2] $words[-1]" = 'setup --agent'
    string split ' ' '${SET_UP}'
  else if test "$words[2] $words[3]" = 'agents check'
    string split ' ' '${CHECKED}'
  end
end`;

export function fishScript(commands: readonly ListedCommand[]): string {
  const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const offer = (condition: string, words: readonly Word[]): string[] =>
    words.map(({ name, summary }) => `complete -c svc -n ${condition} -f -a ${name} -d ${quoted(summary)}`);
  return [
    "# fish completion of svc",
    "function __svc_options",
    "  set -l words (commandline -opc)",
    `  contains -- "$words[2]" ${namesOf(commands, " ")}; or return`,
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
    FISH_CONDITIONS,
    ...offer("__fish_use_subcommand", AGENTS),
    ...offer("__svc_is_first", commands),
    "complete -c svc -n __svc_is_first -f -l detach -d 'start without attaching'",
    "complete -c svc -n __svc_is_first -f -l help -d 'print the help'",
    "complete -c svc -n __svc_is_first -f -l version -d 'print the version'",
    perGroup(
      commands,
      (name, list) =>
        `complete -c svc -n '__fish_seen_subcommand_from ${name}; and not __fish_seen_subcommand_from ${list}' -a '${list}'`,
    ),
    "complete -c svc -n 'string match -q -- \"-*\" (commandline -ct)' -f -a '(__svc_options)'",
    "complete -c svc -n __svc_takes_no_files -f",
    `complete -c svc -n __svc_is_help -f -a '${namesOf(commands, " ")}'`,
    "complete -c svc -n __svc_takes_session -f -a '(svc sessions --names 2>/dev/null)'",
    "complete -c svc -n '__svc_agents | string length -q' -f -a '(__svc_agents)'",
    "complete -c svc -n '__fish_seen_subcommand_from completions' -f -a 'bash zsh fish'",
    `complete -c svc -n '__fish_seen_subcommand_from service; and __fish_seen_subcommand_from install remove' -f -a '${SERVICES}'`,
    "complete -c svc -n __svc_takes_folders -f -a '(__fish_complete_directories)'",
  ].join("\n");
}

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
