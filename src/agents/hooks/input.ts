/** Reads fields of a hook's input, which may lack them or have others in their place. */
import type { HookInput } from "./types.ts";

export function textOf(input: HookInput, field: string): string | undefined {
  const value = input[field];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The object in a field; an empty one when there is none. */
export function objectOf(input: HookInput, field: string): HookInput {
  const value = input[field];
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** A tool that waits for a permission: its name and, where it runs a command, the command. */
export function toolInWords(input: HookInput): string | undefined {
  const tool = textOf(input, "tool_name");
  const command = textOf(objectOf(input, "tool_input"), "command");
  return command === undefined ? tool : `${tool ?? "shell"}: ${command}`;
}
