/** A file from a phone, in the keystroke frames (kind 2) of a sealed stream: its announcement as JSON, its bytes in chunks. */
import * as z from "zod/mini";
import { encodeUtf8 } from "../async/encodings.ts";
import { parseJson } from "./json.ts";
import { UPLOAD_CHUNK_BYTES, UPLOAD_CONFIG_MAX_BYTES } from "./limits.ts";

const UploadId = z.int().check(z.minimum(0), z.maximum(0xffff_ffff));

/** Every byte of a key frame's content that is no chunk begins a JSON object. */
const CHUNK_TAG = 1;
const CHUNK_HEADER_BYTES = 13;
const BLANK = 0x20;
/** A relay sees only the length of a frame: the announcement has the same whatever the file is called. */
const UPLOAD_BLOCK_BYTES = 2_048;

const Announcement = z.discriminatedUnion("type", [
  /** The file as the phone calls it; the host answers before the first chunk. */
  z.object({
    type: z.literal("upload"),
    id: UploadId,
    name: z.string().check(z.maxLength(255)),
    size: z.int().check(z.minimum(1), z.maximum(UPLOAD_CONFIG_MAX_BYTES)),
  }),
  /** The user has changed their mind. */
  z.object({ type: z.literal("upload.stop"), id: UploadId }),
]);

export type UploadInput =
  | z.infer<typeof Announcement>
  /** `at`: how many bytes of the file come before these. */
  | { type: "upload.chunk"; id: number; at: number; data: Uint8Array };

export const UploadState = z.object({
  id: UploadId,
  state: z.enum(["taking", "done", "refused"]),
  /** How many bytes the host has stored. */
  received: z.number(),
  /** Where the file is, once it is done. */
  path: z.optional(z.string().check(z.maxLength(4_096))),
  /** Why it was refused. */
  reason: z.optional(z.string().check(z.maxLength(64))),
  /** The most bytes that this host takes. */
  most: z.optional(z.number()),
});
export type UploadState = z.infer<typeof UploadState>;

/** Every chunk of a file but a short last one gives the same length. */
export function encodeUpload(input: UploadInput): Uint8Array {
  if (input.type !== "upload.chunk") {
    const json = encodeUtf8(JSON.stringify(input));
    const padded = new Uint8Array(Math.ceil(json.length / UPLOAD_BLOCK_BYTES) * UPLOAD_BLOCK_BYTES);
    padded.fill(BLANK).set(json);
    return padded;
  }
  const bytes = new Uint8Array(CHUNK_HEADER_BYTES + input.data.length);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, CHUNK_TAG);
  view.setUint32(1, input.id);
  view.setUint32(5, input.at);
  view.setUint32(9, input.data.length);
  bytes.set(input.data, CHUNK_HEADER_BYTES);
  return bytes;
}

/** Undefined when the bytes are no part of a file. */
export function decodeUpload(bytes: Uint8Array): UploadInput | undefined {
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
