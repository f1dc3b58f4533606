/** What a live input costs, and whether it would run a shell command in the agent. */
import type { ScreenReading } from "../agents/profile.ts";
import type { KeyInput } from "../protocol/key_input.ts";
import { PASTE_COST } from "./keys_limit.ts";

/** An input that is typed; fitting the window is not. */
export type TypedInput = Extract<KeyInput, { type: "text" | "key" | "paste" }>;

export function costOf(input: TypedInput): number {
  switch (input.type) {
    case "text":
      return Array.from(input.text).length;
    case "key":
      return 1;
    case "paste":
      return PASTE_COST;
  }
}

/** Keys after which the input line is another one. */
const LINE_ENDS = new Set(["Enter", "Escape", "C-c", "C-u", "C-d"]);

/** Remembers whether text was typed into the input line since it was new, for screens that do not show it. */
export function isLineBegun(before: boolean, input: TypedInput): boolean {
  if (input.type === "key") return before && !LINE_ENDS.has(input.key);
  return before || input.text.trim() !== "";
}

/**
 * An input line that begins with `!` runs a shell command in three agents: neither is it begun, nor submitted. `draft`
 * is the input line as the screen shows it, undefined when it does not.
 */
export function runsShell(
  input: TypedInput,
  { draft, lineBegun }: Pick<ScreenReading, "draft"> & { lineBegun: boolean },
): boolean {
  if (input.type === "key") return submits(input.key) && (draft?.startsWith("!") ?? false);
  const startsLine = draft === undefined ? !lineBegun : draft.trim() === "";
  const begins = startsLine && input.text.trimStart().startsWith("!");
  const submitsDraft = input.text.includes("\n") && (draft?.startsWith("!") ?? false);
  return begins || submitsDraft;
}

function submits(key: string): boolean {
  return key === "Enter" || key === "C-m" || key === "C-j" || key === "M-Enter";
}
