/** The completion script of bash. It needs no bash-completion package and leaves no globals but its function. */
import type { Word } from "../completions.ts";

/** `compgen -W` expands its words as the shell does, so the names of sessions, which are data, do not go through it. */
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
