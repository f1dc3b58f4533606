/** The slash commands that the composer suggests for a draft. */
import { isAgentKind } from "../protocol/names.ts";
import { SLASH_COMMANDS } from "../protocol/slash_commands.ts";

/** The beginning of a command and nothing else: with another slash it is a path. */
const BEGUN = /^\/([^\s/]*)$/;

/** With their slash, those that begin like the draft first; none if the draft is no command or is one already. */
export function suggestedCommands(draft: string, agent: string): string[] {
  const typed = BEGUN.exec(draft)?.[1]?.toLowerCase();
  if (typed === undefined || !isAgentKind(agent)) return [];
  const names = SLASH_COMMANDS[agent].filter((name) => name.includes(typed));
  if (names.length === 1 && names[0] === typed) return [];
  const first = names.filter((name) => name.startsWith(typed));
  return [...first, ...names.filter((name) => !first.includes(name))].map((name) => `/${name}`);
}
