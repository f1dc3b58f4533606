/** Frames of one direction of a stream, sealed and opened with the key that HPKE agreed on. */
import { Mutex } from "../async/mutex.ts";
import { decodeSequenced, encodeSequenced } from "../protocol/pane_frame.ts";
import { ENC_BYTES } from "./suite.ts";

/** So many frames in a row that do not open end a stream. */
export const UNOPENED_MAX = 3;
/** Bytes that sealing adds to a frame, but for the first, which `ENC_BYTES` more. */
export const FRAME_OVERHEAD_BYTES = 12 + 8 + 16;

const NONCE_BYTES = 12;
/** Random nonces bound the frames under one key (NIST SP 800-38D, section 8.3). */
const FRAMES_MAX = 2n ** 32n;

/**
 * A frame as the other side gave it. `dropped`: it did not open, or came before; go on with the next.
 * `broken`: the keys do not fit, or too many frames did not open: close the stream.
 */
export type OpenedFrame =
  | { kind: "frame"; sequence: bigint; bytes: Uint8Array }
  | { kind: "dropped"; reason: "unopenable" | "repeated" }
  | { kind: "broken" };

/** One direction's outgoing end. */
export interface FrameSealer {
  /** Payloads come out in the order of the calls. Undefined: the frame could not be sealed, and is never sent plain. */
  seal(bytes: Uint8Array): Promise<Uint8Array | undefined>;
  /** Frames that could not be sealed. */
  readonly unsealed: number;
}

/** One direction's incoming end. A sequence that is not the last one's successor tells of frames that were lost. */
export interface FrameOpener {
  /** Frames come out in the order of the calls. Never throws. */
  open(payload: Uint8Array): Promise<OpenedFrame>;
  readonly dropped: { readonly unopenable: number; readonly repeated: number };
}

/** A sealed payload is `nonce · ciphertext of (sequence · bytes)`, the first one with `enc` before it. */
export class StreamSealer implements FrameSealer {
  unsealed = 0;
  readonly #key: CryptoKey;
  readonly #enc: Uint8Array;
  #isFirst = true;
  #next = 0n;
  readonly #mutex = new Mutex();

  constructor({ enc, key }: { enc: Uint8Array; key: CryptoKey }) {
    this.#enc = enc;
    this.#key = key;
  }

  seal(bytes: Uint8Array): Promise<Uint8Array | undefined> {
    return this.#mutex.run(() => this.#seal(bytes));
  }

  /** A frame that fails uses up its number, so that the other side sees the gap. */
  async #seal(bytes: Uint8Array): Promise<Uint8Array | undefined> {
    const sequence = this.#next++;
    try {
      if (sequence >= FRAMES_MAX) throw new RangeError("Cannot seal the frame: its key is used up");
      const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
      const plain = new Uint8Array(encodeSequenced(sequence, bytes));
      const sealed = new Uint8Array(await crypto.subtle.encrypt({ name: "AES-GCM", iv }, this.#key, plain));
      const payload = this.#isFirst ? concat(this.#enc, iv, sealed) : concat(iv, sealed);
      this.#isFirst = false;
      return payload;
    } catch {
      this.unsealed += 1;
      return undefined;
    }
  }
}

/** Learns the key from the first payload; one that does not open there shows that the keys do not fit. */
export class StreamOpener implements FrameOpener {
  readonly dropped = { unopenable: 0, repeated: 0 };
  readonly #agree: (enc: Uint8Array) => Promise<CryptoKey>;
  #key: CryptoKey | undefined;
  #last = -1n;
  #unopenedInARow = 0;
  #isBroken = false;
  readonly #mutex = new Mutex();

  /** `agree` gives the key for an encapsulated one; it may throw. */
  constructor(agree: (enc: Uint8Array) => Promise<CryptoKey>) {
    this.#agree = agree;
  }

  open(payload: Uint8Array): Promise<OpenedFrame> {
    return this.#mutex.run(() => this.#open(payload));
  }

  async #open(payload: Uint8Array): Promise<OpenedFrame> {
    if (this.#isBroken) return { kind: "broken" };
    const frame = await this.#decrypt(payload);
    if (frame === undefined) return this.#unopened();
    this.#unopenedInARow = 0;
    if (frame.sequence <= this.#last) {
      this.dropped.repeated += 1;
      return { kind: "dropped", reason: "repeated" };
    }
    this.#last = frame.sequence;
    return { kind: "frame", ...frame };
  }

  async #decrypt(payload: Uint8Array): Promise<{ sequence: bigint; bytes: Uint8Array } | undefined> {
    const bytes = new Uint8Array(payload);
    try {
      if (this.#key !== undefined) return await openFrame(this.#key, bytes);
      const key = await this.#agree(bytes.subarray(0, ENC_BYTES));
      const frame = await openFrame(key, bytes.subarray(ENC_BYTES));
      this.#key = key;
      return frame;
    } catch {
      return undefined;
    }
  }

  #unopened(): OpenedFrame {
    this.dropped.unopenable += 1;
    this.#unopenedInARow += 1;
    this.#isBroken = this.#key === undefined || this.#unopenedInARow >= UNOPENED_MAX;
    return this.#isBroken ? { kind: "broken" } : { kind: "dropped", reason: "unopenable" };
  }
}

async function openFrame(
  key: CryptoKey,
  payload: Uint8Array<ArrayBuffer>,
): Promise<{ sequence: bigint; bytes: Uint8Array } | undefined> {
  const iv = payload.subarray(0, NONCE_BYTES);
  const plain = await crypto.subtle.decrypt({ name: "AES-GCM", iv }, key, payload.subarray(NONCE_BYTES));
  return decodeSequenced(new Uint8Array(plain));
}

function concat(...parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}
