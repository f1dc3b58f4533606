/** The completion script of zsh. */
import type { Word } from "../completions.ts";

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
