/** Binary frames, `kind u8 · stream u32 · payload` (big-endian), and the mirror messages inside a pane frame. */
import * as z from "zod/mini";
import { encodeUtf8 } from "../async/encodings.ts";
import { parseJson } from "./json.ts";
import { AuditPage } from "./audit.ts";
import { UploadState } from "./key_input.ts";
import { maxLength } from "./lengths.ts";
import { CARD_PART_CHARS } from "./limits.ts";
import { PushId } from "./receipt.ts";

/** Kinds of binary frame. The relay routes by stream and does not read the payload. */
export const PANE_FRAME = 1;
export const KEY_FRAME = 2;

interface BinaryFrame {
  /** `PANE_FRAME` (listener → phone) or `KEY_FRAME` (phone → listener). */
  kind: number;
  stream: number;
  payload: Uint8Array;
}

const HEADER_BYTES = 5;
const SEQUENCE_BYTES = 8;

export function encodeBinaryFrame(frame: BinaryFrame): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + frame.payload.length);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, frame.kind);
  view.setUint32(1, frame.stream);
  bytes.set(frame.payload, HEADER_BYTES);
  return bytes;
}

/** The frame, or undefined when it is shorter than its header or its kind is unknown. The payload is a view of `bytes`. */
export function decodeBinaryFrame(bytes: Uint8Array): BinaryFrame | undefined {
  if (bytes.length < HEADER_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const kind = view.getUint8(0);
  if (kind !== PANE_FRAME && kind !== KEY_FRAME) return undefined;
  return { kind, stream: view.getUint32(1), payload: bytes.subarray(HEADER_BYTES) };
}

/** The plain payload: `sequence u64 · bytes`. */
export function encodeSequenced(sequence: bigint, bytes: Uint8Array): Uint8Array {
  const out = new Uint8Array(SEQUENCE_BYTES + bytes.length);
  new DataView(out.buffer).setBigUint64(0, sequence);
  out.set(bytes, SEQUENCE_BYTES);
  return out;
}

export function decodeSequenced(payload: Uint8Array): { sequence: bigint; bytes: Uint8Array } | undefined {
  if (payload.length < SEQUENCE_BYTES) return undefined;
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  return { sequence: view.getBigUint64(0), bytes: payload.subarray(SEQUENCE_BYTES) };
}

/** What happened to the keys of one keystroke frame. */
export const KeyState = z.object({
  /** The frame's sequence number. */
  sequence: z.number(),
  /** `unknown`: they may have been typed. */
  state: z.enum(["typed", "held", "refused", "unknown"]),
  /** Why they are held or were refused. */
  reason: z.optional(z.string().check(maxLength(64))),
});
export type KeyState = z.infer<typeof KeyState>;

/** A part of the request that a card shows. */
export const RequestPart = z.object({
  card: PushId,
  /** Number of characters before it. */
  at: z.number(),
  /** Empty when no such card is open. */
  text: z.string().check(maxLength(CARD_PART_CHARS)),
});
export type RequestPart = z.infer<typeof RequestPart>;

/** Each field is present only when it changed. */
export const MirrorStatus = z.object({
  title: z.optional(z.string().check(maxLength(200))),
  keys: z.optional(KeyState),
  /** Whether the window has the phone's size; `refused`: it cannot be resized. */
  fit: z.optional(z.enum(["on", "off", "refused"])),
  /** The state of a file from this phone. */
  upload: z.optional(UploadState),
  /** Requested by this phone. */
  part: z.optional(RequestPart),
  /** Requested by this phone. */
  audit: z.optional(AuditPage),
  /** Heartbeat of a mirror: how many keystroke frames the host has accepted. */
  received: z.optional(z.number()),
  /** The number of this heartbeat, from 1 on. The phone's keys name the last one that it has received. */
  pulse: z.optional(z.number()),
});
export type MirrorStatus = z.infer<typeof MirrorStatus>;

export type MirrorMessage =
  /** A whole screen, for a terminal that was just reset. */
  | { tag: "S"; bytes: Uint8Array }
  /** Terminal output after the snapshot. */
  | { tag: "O"; bytes: Uint8Array }
  /** The terminal's size, in effect for all that follows. */
  | { tag: "R"; cols: number; rows: number }
  /** A change of status. */
  | { tag: "T"; status: MirrorStatus };

export function encodeMirror(message: MirrorMessage): Uint8Array {
  switch (message.tag) {
    case "S":
    case "O":
      return tagged(message.tag, message.bytes);
    case "R":
      return tagged("R", sizeBytes(message));
    case "T":
      return tagged("T", encodeUtf8(JSON.stringify(message.status)));
  }
}

/** Undefined when the bytes are not a message of this version. */
export function decodeMirror(bytes: Uint8Array): MirrorMessage | undefined {
  const tag = String.fromCharCode(bytes[0] ?? 0);
  const rest = bytes.subarray(1);
  switch (tag) {
    case "S":
    case "O":
      return { tag, bytes: rest };
    case "R":
      return decodeSize(rest);
    case "T": {
      const status = MirrorStatus.safeParse(parseJson(new TextDecoder().decode(rest))?.value).data;
      return status && { tag, status };
    }
    default:
      return undefined;
  }
}

function tagged(tag: string, rest: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(1 + rest.length);
  bytes[0] = tag.charCodeAt(0);
  bytes.set(rest, 1);
  return bytes;
}

/** `cols u16 · rows u16`, big-endian. */
function sizeBytes({ cols, rows }: { cols: number; rows: number }): Uint8Array {
  const bytes = new Uint8Array(4);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, cols);
  view.setUint16(2, rows);
  return bytes;
}

function decodeSize(bytes: Uint8Array): MirrorMessage | undefined {
  if (bytes.length !== 4) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const [cols, rows] = [view.getUint16(0), view.getUint16(2)];
  return cols > 0 && rows > 0 ? { tag: "R", cols, rows } : undefined;
}
