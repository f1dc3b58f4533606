/**
 * The content of a phone's keystroke frames (kind 2): an input as JSON; in a sealed stream also a file, announced as
 * JSON and sent in chunks, or a request to read a part of a long request for permission or of the audit log.
 */
import * as z from "zod/mini";
import { encodeUtf8 } from "../async/encodings.ts";
import { parseJson } from "./json.ts";
import { maxLength, minLength } from "./lengths.ts";
import {
  AUDIT_ENTRIES_SHOWN_MAX,
  CARD_REQUEST_MAX_BYTES,
  KEY_TEXT_MAX_CHARS,
  PANE_SIZE_MAX,
  UPLOAD_CHUNK_BYTES,
  UPLOAD_CONFIG_MAX_BYTES,
} from "./limits.ts";
import { Body, PushId } from "./push.ts";

/** tmux's key names, without modifiers. */
export const KEY_NAMES = [
  ...["Escape", "Enter", "Tab", "BTab", "BSpace", "DC", "Space"],
  ...["Up", "Down", "Left", "Right", "Home", "End", "PPage", "NPage"],
  ...["F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9", "F10", "F11", "F12"],
] as const;

/** The smallest window size that a phone may request. */
const FIT_LEAST = { cols: 20, rows: 5 } as const;

/** `C-a` to `C-z`; `M-` with a letter, Enter or backspace. */
const MODIFIED = /^(C-[a-z]|M-([a-z]|Enter|BSpace))$/;
const BLANK = 0x20;
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

const KeyName = z.string().check(
  z.refine((name) => MODIFIED.test(name) || (KEY_NAMES as readonly string[]).includes(name), "a key's name"),
);

/** The last pulse of the mirror that the phone had received when the key was pressed; 0 before the first one. */
const Pulse = z.optional(z.int().check(z.minimum(0)));

export const KeyInput = z.discriminatedUnion("type", [
  /** Characters as typed, or as an input method produced them. */
  z.object({
    type: z.literal("text"),
    text: z.string().check(
      minLength(1),
      maxLength(KEY_TEXT_MAX_CHARS),
      z.refine((text) => !CONTROL.test(text), "no control characters"),
      z.refine((text) => text.isWellFormed(), "no lone surrogate"),
    ),
    pulse: Pulse,
  }),
  z.object({ type: z.literal("key"), key: KeyName, pulse: Pulse }),
  z.object({ type: z.literal("paste"), text: Body, pulse: Pulse }),
  /** Resizes the window until the stream ends or `unfit` arrives. */
  z.object({
    type: z.literal("fit"),
    cols: z.int().check(z.minimum(FIT_LEAST.cols), z.maximum(PANE_SIZE_MAX)),
    rows: z.int().check(z.minimum(FIT_LEAST.rows), z.maximum(PANE_SIZE_MAX)),
    pulse: Pulse,
  }),
  z.object({ type: z.literal("unfit"), pulse: Pulse }),
]);
export type KeyInput = z.infer<typeof KeyInput>;

/** A relay sees only the length of a sealed keystroke frame: padding with spaces gives every key the same length. */
export const KEY_INPUT_BLOCK_BYTES = 256;

/** Padded to a whole number of blocks. */
export function encodeKeyInput(input: KeyInput): Uint8Array {
  return paddedJson(input, KEY_INPUT_BLOCK_BYTES);
}

function paddedJson(input: KeyInput | UploadInput | ReadInput, blockBytes: number): Uint8Array {
  const json = encodeUtf8(JSON.stringify(input));
  const padded = new Uint8Array(Math.ceil(json.length / blockBytes) * blockBytes).fill(BLANK);
  padded.set(json);
  return padded;
}

/** Undefined when the bytes are not a valid input. Trailing spaces are optional. */
export function decodeKeyInput(bytes: Uint8Array): KeyInput | undefined {
  return KeyInput.safeParse(parseJson(new TextDecoder().decode(bytes))?.value).data;
}

const UploadId = z.int().check(z.minimum(0), z.maximum(0xffff_ffff));

/** The first byte of a chunk; any other content is JSON and begins with a brace. */
const CHUNK_TAG = 1;
const CHUNK_HEADER_BYTES = 13;
/** A relay sees only the length of a frame: padding gives every announcement the same, whatever the file's name. */
const UPLOAD_BLOCK_BYTES = 2_048;

/** Asks for a part of the request that a card shows, starting at the character `at`. */
const PartInput = z.object({
  type: z.literal("card.part"),
  card: PushId,
  at: z.int().check(z.minimum(0), z.maximum(CARD_REQUEST_MAX_BYTES)),
});
export type PartInput = z.infer<typeof PartInput>;

/** Asks for a page of the audit log, newest first, after the `skip` newest entries. */
const AuditInput = z.object({
  type: z.literal("audit.read"),
  skip: z.int().check(z.minimum(0), z.maximum(AUDIT_ENTRIES_SHOWN_MAX)),
});
export type AuditInput = z.infer<typeof AuditInput>;

/** A phone's request to read a part of a long text. */
export type ReadInput = PartInput | AuditInput;

const Announcement = z.discriminatedUnion("type", [
  PartInput,
  AuditInput,
  /** `name` is the file's name on the phone; the host answers before the first chunk. */
  z.object({
    type: z.literal("upload"),
    id: UploadId,
    name: z.string().check(maxLength(255)),
    size: z.int().check(z.minimum(1), z.maximum(UPLOAD_CONFIG_MAX_BYTES)),
  }),
  /** The user has changed their mind. */
  z.object({ type: z.literal("upload.stop"), id: UploadId }),
]);

export type UploadInput =
  | Exclude<z.infer<typeof Announcement>, ReadInput>
  /** `at`: the number of bytes of the file before these. */
  | { type: "upload.chunk"; id: number; at: number; data: Uint8Array };

export const UploadState = z.object({
  id: UploadId,
  state: z.enum(["taking", "done", "refused"]),
  /** How many bytes the host has stored. */
  received: z.number(),
  /** The file's path on the host, once the upload is done. */
  path: z.optional(z.string().check(maxLength(4_096))),
  /** Why it was refused. */
  reason: z.optional(z.string().check(maxLength(64))),
  /** The host's limit for a file, in bytes. */
  most: z.optional(z.number()),
});
export type UploadState = z.infer<typeof UploadState>;

/** Encodes an upload or a request to read. All chunks have the same length, except a short last one. */
export function encodeUpload(input: UploadInput | ReadInput): Uint8Array {
  if (input.type !== "upload.chunk") return paddedJson(input, UPLOAD_BLOCK_BYTES);
  const bytes = new Uint8Array(CHUNK_HEADER_BYTES + input.data.length);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, CHUNK_TAG);
  view.setUint32(1, input.id);
  view.setUint32(5, input.at);
  view.setUint32(9, input.data.length);
  bytes.set(input.data, CHUNK_HEADER_BYTES);
  return bytes;
}

/** Undefined when the bytes are neither a part of an upload nor a request to read. */
export function decodeUpload(bytes: Uint8Array): UploadInput | ReadInput | undefined {
  if (bytes[0] !== CHUNK_TAG) {
    return Announcement.safeParse(parseJson(new TextDecoder().decode(bytes))?.value).data;
  }
  if (bytes.length < CHUNK_HEADER_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = view.getUint32(9);
  const isWhole = length > 0 && length <= UPLOAD_CHUNK_BYTES && bytes.length === CHUNK_HEADER_BYTES + length;
  if (!isWhole) return undefined;
  const data = bytes.subarray(CHUNK_HEADER_BYTES);
  return { type: "upload.chunk", id: view.getUint32(1), at: view.getUint32(5), data };
}
