/** Reads fields of a hook's input, which may lack them or have others in their place. */
import type { HookInput, HookMeaning, ToolStep } from "./types.ts";

export function textOf(input: HookInput, field: string): string | undefined {
  const value = input[field];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The object in a field; an empty one when there is none. */
export function objectOf(input: HookInput, field: string): HookInput {
  const value = input[field];
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** The prompt of agents that hand on what was typed. */
export function plainPrompt({ prompt }: HookInput): string | undefined {
  return typeof prompt === "string" ? prompt : undefined;
}

/** The longest id of a tool call that a report takes. */
const ID_MAX_CHARS = 200;

/** A step of the tool call whose id is in `field`. */
export function toolStep(step: ToolStep["step"], input: HookInput, field?: string): ToolStep {
  const id = field === undefined ? undefined : textOf(input, field);
  const own = id === undefined || id.length > ID_MAX_CHARS ? {} : { id };
  return { step, ...own, ...(isSubagents(input) ? { subagent: true } : {}) };
}

/**
 * The agent works from then on. The end of a call gives no state: the turn may end with it, and reports of the two may
 * arrive in either order. What an agent does that this one started gives no state either.
 */
export function workingAt(tool: ToolStep): HookMeaning {
  return tool.subagent ? { tool } : { state: "working", tool };
}

/** Claude and Codex name the agent that they started. */
export function isSubagents(input: HookInput): boolean {
  return textOf(input, "agent_id") !== undefined;
}

/** A tool that waits for a permission: its name and, where it runs a command, the command. */
export function toolInWords(input: HookInput): string | undefined {
  const tool = textOf(input, "tool_name");
  const command = textOf(objectOf(input, "tool_input"), "command");
  return command === undefined ? tool : `${tool ?? "shell"}: ${command}`;
}
