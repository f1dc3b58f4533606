/** Binary frames: `kind u8 · stream u32 · payload`, big-endian. The relay routes by stream and reads no payload. */

/** Kinds of binary frame. */
export const PANE_FRAME = 1;
export const KEY_FRAME = 2;

export interface BinaryFrame {
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

/** The frame, or undefined when it is shorter than its header or of an unknown kind. The payload shares memory. */
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
