/** The completion script of fish. */
import type { Word } from "../completions.ts";

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
