/** What the phone's clipboard gives to a terminal. */
import type { KeyInput } from "../protocol/key_input.ts";
import { checkBody } from "./check_input.ts";
import { inputsOfText } from "./terminal_input.ts";

export type Pasted =
  | { kind: "inputs"; inputs: readonly KeyInput[] }
  /** `unreadable`: the browser or the user does not let the page read it. */
  | { kind: "empty" | "too_long" | "unreadable" };

type Clipboard = { readText(): Promise<string> };

/** Call this on a tap: browsers ask the user then. */
export async function readPaste(
  clipboard: Clipboard | undefined = navigator.clipboard,
): Promise<Pasted> {
  let text: string;
  try {
    if (clipboard?.readText === undefined) return { kind: "unreadable" };
    text = await clipboard.readText();
  } catch {
    return { kind: "unreadable" };
  }
  // A blank alone would press Enter.
  if (text.trim() === "") return { kind: "empty" };
  if (checkBody(text).fault === "too_long") return { kind: "too_long" };
  const inputs = inputsOfText(text);
  return inputs.length === 0 ? { kind: "empty" } : { kind: "inputs", inputs };
}
