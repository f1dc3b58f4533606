/** What a phone types live: the bytes of a keystroke frame (kind 2), one input each, as JSON. */
import * as z from "zod/mini";
import { parseJson } from "./json.ts";
import { KEY_TEXT_MAX_CHARS, PANE_SIZE_MAX } from "./limits.ts";
import { Body } from "./push.ts";

/** Keys as tmux names them, but for those with a modifier. */
export const KEY_NAMES = [
  ...["Escape", "Enter", "Tab", "BTab", "BSpace", "DC", "Space"],
  ...["Up", "Down", "Left", "Right", "Home", "End", "PPage", "NPage"],
  ...["F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9", "F10", "F11", "F12"],
] as const;

/** The smallest window that a phone may ask for. */
export const FIT_LEAST = { cols: 20, rows: 5 } as const;

/** `C-a` to `C-z`; `M-` with a letter, Enter or backspace. */
const MODIFIED = /^(C-[a-z]|M-([a-z]|Enter|BSpace))$/;
const BLANK = 0x20;
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

const KeyName = z.string().check(
  z.refine((name) => MODIFIED.test(name) || (KEY_NAMES as readonly string[]).includes(name), "a key's name"),
);

export const KeyInput = z.discriminatedUnion("type", [
  /** Characters as they were typed, or as an input method gave them. */
  z.object({
    type: z.literal("text"),
    text: z.string().check(
      z.minLength(1),
      z.maxLength(KEY_TEXT_MAX_CHARS),
      z.refine((text) => !CONTROL.test(text), "no control characters"),
      z.refine((text) => text.isWellFormed(), "no lone surrogate"),
    ),
  }),
  z.object({ type: z.literal("key"), key: KeyName }),
  z.object({ type: z.literal("paste"), text: Body }),
  /** The window gets this size for as long as the stream lives, or until `unfit`. */
  z.object({
    type: z.literal("fit"),
    cols: z.int().check(z.minimum(FIT_LEAST.cols), z.maximum(PANE_SIZE_MAX)),
    rows: z.int().check(z.minimum(FIT_LEAST.rows), z.maximum(PANE_SIZE_MAX)),
  }),
  z.object({ type: z.literal("unfit") }),
]);
export type KeyInput = z.infer<typeof KeyInput>;

/** Sealed, a frame's length is all that a relay sees of a key: blanks after the JSON make it the same for each. */
export const KEY_INPUT_BLOCK_BYTES = 256;

/** As long as a whole number of blocks. */
export function encodeKeyInput(input: KeyInput): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(input));
  const blocks = Math.ceil(json.length / KEY_INPUT_BLOCK_BYTES);
  const padded = new Uint8Array(blocks * KEY_INPUT_BLOCK_BYTES).fill(BLANK);
  padded.set(json);
  return padded;
}

/** Undefined for what is no input. Blanks at the end, and their absence, make no difference. */
export function decodeKeyInput(bytes: Uint8Array): KeyInput | undefined {
  return KeyInput.safeParse(parseJson(new TextDecoder().decode(bytes))?.value).data;
}
