/** A phone's live typing: each keystroke frame (kind 2) holds one input as JSON. */
import * as z from "zod/mini";
import { encodeUtf8 } from "../async/encodings.ts";
import { parseJson } from "./json.ts";
import { KEY_TEXT_MAX_CHARS, PANE_SIZE_MAX } from "./limits.ts";
import { Body } from "./push.ts";

/** tmux's key names, without modifiers. */
export const KEY_NAMES = [
  ...["Escape", "Enter", "Tab", "BTab", "BSpace", "DC", "Space"],
  ...["Up", "Down", "Left", "Right", "Home", "End", "PPage", "NPage"],
  ...["F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9", "F10", "F11", "F12"],
] as const;

/** The smallest window that a phone may ask for. */
const FIT_LEAST = { cols: 20, rows: 5 } as const;

/** `C-a` to `C-z`; `M-` with a letter, Enter or backspace. */
const MODIFIED = /^(C-[a-z]|M-([a-z]|Enter|BSpace))$/;
const BLANK = 0x20;
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

const KeyName = z.string().check(
  z.refine((name) => MODIFIED.test(name) || (KEY_NAMES as readonly string[]).includes(name), "a key's name"),
);

export const KeyInput = z.discriminatedUnion("type", [
  /** Characters as typed, or as an input method produced them. */
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
  /** Resizes the window until the stream ends or `unfit` arrives. */
  z.object({
    type: z.literal("fit"),
    cols: z.int().check(z.minimum(FIT_LEAST.cols), z.maximum(PANE_SIZE_MAX)),
    rows: z.int().check(z.minimum(FIT_LEAST.rows), z.maximum(PANE_SIZE_MAX)),
  }),
  z.object({ type: z.literal("unfit") }),
]);
export type KeyInput = z.infer<typeof KeyInput>;

/** A relay sees only the length of a sealed keystroke frame: padding with spaces gives every key the same length. */
export const KEY_INPUT_BLOCK_BYTES = 256;

/** Padded to a whole number of blocks. */
export function encodeKeyInput(input: KeyInput): Uint8Array {
  const json = encodeUtf8(JSON.stringify(input));
  const blocks = Math.ceil(json.length / KEY_INPUT_BLOCK_BYTES);
  const padded = new Uint8Array(blocks * KEY_INPUT_BLOCK_BYTES).fill(BLANK);
  padded.set(json);
  return padded;
}

/** Undefined when the bytes are not a valid input. Trailing spaces are optional. */
export function decodeKeyInput(bytes: Uint8Array): KeyInput | undefined {
  return KeyInput.safeParse(parseJson(new TextDecoder().decode(bytes))?.value).data;
}
