/** Slash commands that a phone may run: those that the agent's profile lists, and those that the host allows. */
import type { AgentProfile } from "../agents/profile.ts";
import type { Policy } from "./policy.ts";

/** A name in which another slash stands is a path, and agents take it as text. */
const COMMAND = /^\/([^\s/]*)(?=\s|$)/;

/** The name without the slash; undefined for a text that is no command. */
export function slashCommand(text: string): string | undefined {
  return COMMAND.exec(text.trimStart())?.[1];
}

/** A slash command that may change approvals, sandbox, hooks or tools: every one that is not known to change none. */
export function changesApproval(
  text: string,
  { commands }: Pick<AgentProfile, "commands">,
  { allowApprovalChange, allowCommands }: Policy,
): boolean {
  const name = slashCommand(text);
  if (name === undefined || allowApprovalChange) return false;
  return !commands.includes(name) && !allowCommands.includes(name);
}
