/** What a phone may do: configuration beyond the defaults, and the allowed slash commands. */
import type { Config } from "../../home/config.ts";
import type { AgentProfile } from "../../agents/profile.ts";
import { canonicalText } from "../../protocol/canonical.ts";
import { ALLOW_AGENT_END, type DialogAction } from "../../protocol/session.ts";

export interface Policy {
  /** A message may begin with `!`. */
  allowShellEscape: boolean;
  /** What a phone may do in a permission dialog; `once` and `always` let it type there. */
  approval: "none" | "reject" | "once" | "always";
  /** Messages are typed while the agent works, even if no hook holds its dialogs back. */
  steer: boolean;
  /** Messages and keys are typed into screens that the agent's profile does not recognize. */
  allowUnknownScreens: boolean;
  /** Allows keys and slash commands that change how the agent asks for approval. */
  allowApprovalChange: boolean;
  /** Slash commands, without the slash, in addition to the profile's. */
  allowCommands: readonly string[];
  /** A phone may end agents that svc started. */
  allowAgentEnd: boolean;
}

export function policyOf(config: Config): Policy {
  const { allowRemoteApproval: approval = "none" } = config;
  return {
    allowShellEscape: config.allowShellEscape === true,
    approval: approval === true ? "once" : approval === false ? "none" : approval,
    steer: config.steer === true,
    allowUnknownScreens: config.allowUnknownScreens === true,
    allowApprovalChange: config.allowApprovalChange === true,
    allowCommands: (config.allowCommands ?? []).map((name) => name.replace(/^\//, "")),
    allowAgentEnd: config.allowAgentEnd === true,
  };
}

/** True if the phone may type into a permission dialog. */
export function mayAnswerDialogs({ approval }: Policy): boolean {
  return approval === "once" || approval === "always";
}

/** What the phone may do with a permission dialog. */
export function dialogActions(policy: Policy): DialogAction[] {
  if (policy.approval === "none") return [];
  return mayAnswerDialogs(policy) ? ["reject", "interrupt", "type"] : ["reject", "interrupt"];
}

/** For each field, the configuration key that widens what a phone may do, and the values that do so. */
const WIDENING: { [F in keyof Policy]: { key: keyof Config; isWidened(value: Policy[F]): boolean } } = {
  allowShellEscape: { key: "allowShellEscape", isWidened: Boolean },
  approval: { key: "allowRemoteApproval", isWidened: (approval) => approval !== "none" },
  steer: { key: "steer", isWidened: Boolean },
  allowUnknownScreens: { key: "allowUnknownScreens", isWidened: Boolean },
  allowApprovalChange: { key: "allowApprovalChange", isWidened: Boolean },
  allowCommands: { key: "allowCommands", isWidened: ({ length }) => length > 0 },
  allowAgentEnd: { key: ALLOW_AGENT_END, isWidened: Boolean },
};

/** The configuration keys that widen what a phone may do, for the phone to show. */
export function widenedBy(policy: Policy): string[] {
  const isWidened = <F extends keyof Policy>(field: F): boolean => WIDENING[field].isWidened(policy[field]);
  const fields = Object.keys(WIDENING) as (keyof Policy)[];
  return fields.filter(isWidened).map((field) => WIDENING[field].key);
}

/** A name with another slash is a path, which agents treat as text. */
const COMMAND = /^\/([^\s/]*)(?=(\s|$))/;
/** A command that may be in a folder, such as `/git/commit`. */
const NESTED = /^\/([^\s/]+(?:\/[^\s/]+)+)(?=(\s|$))/;
/** A path below a system folder: no folder of commands has such a name. */
const SYSTEM_PATH = /^\/(?:home|Users|Volumes|root|tmp|private|var|etc|usr|opt|mnt|media|srv)\//;
/** Another command, as the first of the arguments. */
const STACKED = /^ +\/[^\s/]/;

/** The command's name without the slash. Undefined if the text is no command. Some agents remove invisible characters. */
export function slashCommand(text: string): string | undefined {
  return COMMAND.exec(canonicalText(text))?.[1];
}

/** True if the first visible character is `!` or `/`: text that is typed after it becomes part of a command. */
export function beginsCommand(text: string): boolean {
  return /^[!/]/.test(canonicalText(text));
}

/** True for a slash command that is not known to leave approvals, sandbox, hooks and tools unchanged. */
export function changesApproval(
  text: string,
  { commands, bareCommands = [], nestsCommands }: Pick<
    AgentProfile,
    "commands" | "bareCommands" | "nestsCommands"
  >,
  { allowApprovalChange, allowCommands }: Policy,
): boolean {
  const canonical = canonicalText(text);
  const isNested = nestsCommands === true && !SYSTEM_PATH.test(canonical);
  const [found, name, end = ""] = COMMAND.exec(canonical) ?? (isNested ? NESTED.exec(canonical) : null) ?? [];
  if (found === undefined || name === undefined || allowApprovalChange) return false;
  // Before a blank other than a space, an agent may read another name.
  if (end !== "" && end !== " ") return true;
  const rest = canonical.slice(found.length);
  if (STACKED.test(rest) || rest !== "" && bareCommands.includes(name)) return true;
  return !commands.includes(name) && !allowCommands.includes(name);
}

/** Agents treat one of these, alone in the composer, as the command that ends them. */
const END_WORDS: ReadonlySet<string> = new Set(["exit", "quit", ":q", ":q!", ":wq", ":wq!"]);

/** True if the text would end the agent, and the host does not let phones do that. */
export function endsAgent(text: string, { allowAgentEnd }: Pick<Policy, "allowAgentEnd">): boolean {
  return !allowAgentEnd && END_WORDS.has(canonicalText(text).toLowerCase());
}
