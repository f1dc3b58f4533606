/** What a pane frame (kind 1) holds: a tag and its bytes. */
import * as z from "zod/mini";
import { parseJson } from "./json.ts";

/** What became of the keys of one frame. */
export const KeyState = z.object({
  /** The frame's. */
  sequence: z.number(),
  state: z.enum(["typed", "held", "refused"]),
  /** Why they wait, or were not typed. */
  reason: z.optional(z.string().check(z.maxLength(64))),
});
export type KeyState = z.infer<typeof KeyState>;

/** Each field is there when it changed. */
export const MirrorStatus = z.object({
  title: z.optional(z.string().check(z.maxLength(200))),
  keys: z.optional(KeyState),
  /** The window has the phone's size; `refused`: it cannot have it. */
  fit: z.optional(z.enum(["on", "off", "refused"])),
  /** The pulse of a mirror: how many keystroke frames the host has taken. */
  received: z.optional(z.number()),
});
export type MirrorStatus = z.infer<typeof MirrorStatus>;

export type MirrorMessage =
  /** A whole screen, for a terminal that was just reset. */
  | { tag: "S"; bytes: Uint8Array }
  /** Terminal output that follows it. */
  | { tag: "O"; bytes: Uint8Array }
  /** The terminal's size: what follows is for it. */
  | { tag: "R"; cols: number; rows: number }
  | { tag: "T"; status: MirrorStatus };

export function encodeMirror(message: MirrorMessage): Uint8Array {
  switch (message.tag) {
    case "S":
    case "O":
      return tagged(message.tag, message.bytes);
    case "R":
      return tagged("R", sizeBytes(message));
    case "T":
      return tagged("T", new TextEncoder().encode(JSON.stringify(message.status)));
  }
}

/** Undefined for what is no message of this version. */
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
