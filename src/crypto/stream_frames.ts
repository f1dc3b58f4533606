/** Frames of one direction of a stream: sealed and opened with the key that HPKE agreed on, or sent plain. */
import { concatBytes } from "../async/encodings.ts";
import { Mutex } from "../async/mutex.ts";
import { decodeSequenced, encodeSequenced } from "../protocol/pane_frame.ts";
import { ENC_BYTES } from "./hpke.ts";

/** A stream ends after this many consecutive frames that do not open. */
export const UNOPENED_MAX = 3;
/** Bytes that sealing adds to a frame; the first one has `ENC_BYTES` more. */
export const FRAME_OVERHEAD_BYTES = 12 + 8 + 16;

const NONCE_BYTES = 12;
/** The limit for random nonces under one key (NIST SP 800-38D, section 8.3). */
const FRAMES_MAX = 2n ** 32n;

/**
 * `frame`: as the other side sent it. `dropped`: it did not open, or was received before; continue with the next one.
 * `broken`: the keys differ, or too many frames did not open; close the stream.
 */
type OpenedFrame =
  | { kind: "frame"; sequence: bigint; bytes: Uint8Array }
  | { kind: "dropped"; reason: "unopenable" | "repeated" }
  | { kind: "broken" };

/** The sending end of one direction. */
export interface FrameSealer {
  /** Resolves in the order of the calls. Undefined when the frame could not be sealed: it is never sent plain. */
  seal(bytes: Uint8Array): Promise<Uint8Array | undefined>;
  /** Frames that could not be sealed. */
  readonly unsealed: number;
}

/** The receiving end of one direction. A gap in the sequence means that frames were lost. */
export interface FrameOpener {
  /** Resolves in the order of the calls. Never throws. */
  open(payload: Uint8Array): Promise<OpenedFrame>;
  readonly dropped: { readonly unopenable: number; readonly repeated: number };
}

/** A sealed payload is `nonce · ciphertext of (sequence · bytes)`; the first one has `enc` before it. */
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

  /** A frame that fails still consumes its number, so that the other side sees the gap. */
  async #seal(bytes: Uint8Array): Promise<Uint8Array | undefined> {
    const sequence = this.#next++;
    try {
      if (sequence >= FRAMES_MAX) {
        throw new RangeError("Cannot seal the frame: its key has reached its limit");
      }
      const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
      const plain = new Uint8Array(encodeSequenced(sequence, bytes));
      const sealed = new Uint8Array(await crypto.subtle.encrypt({ name: "AES-GCM", iv }, this.#key, plain));
      const payload = this.#isFirst ? concatBytes([this.#enc, iv, sealed]) : concatBytes([iv, sealed]);
      this.#isFirst = false;
      return payload;
    } catch {
      this.unsealed += 1;
      return undefined;
    }
  }
}

/** Derives the key from the first payload. If that does not open, the keys differ and the stream is broken. */
export class StreamOpener implements FrameOpener {
  readonly dropped = { unopenable: 0, repeated: 0 };
  readonly #agree: (enc: Uint8Array) => Promise<CryptoKey>;
  #key: CryptoKey | undefined;
  #last = -1n;
  #unopenedInARow = 0;
  #isBroken = false;
  readonly #mutex = new Mutex();

  /** `agree` returns the key for an encapsulated key; it may throw. */
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

export class PlainSealer implements FrameSealer {
  readonly unsealed = 0;
  #next = 0n;

  seal(bytes: Uint8Array): Promise<Uint8Array> {
    return Promise.resolve(encodeSequenced(this.#next++, bytes));
  }
}

export class PlainOpener implements FrameOpener {
  readonly dropped = { unopenable: 0, repeated: 0 };
  #last = -1n;
  #unreadInARow = 0;

  open(payload: Uint8Array): Promise<OpenedFrame> {
    return Promise.resolve(this.#read(payload));
  }

  #read(payload: Uint8Array): OpenedFrame {
    if (this.#unreadInARow >= UNOPENED_MAX) return { kind: "broken" };
    const frame = decodeSequenced(payload);
    if (frame === undefined) {
      this.dropped.unopenable += 1;
      this.#unreadInARow += 1;
      return this.#unreadInARow >= UNOPENED_MAX
        ? { kind: "broken" }
        : { kind: "dropped", reason: "unopenable" };
    }
    this.#unreadInARow = 0;
    if (frame.sequence <= this.#last) {
      this.dropped.repeated += 1;
      return { kind: "dropped", reason: "repeated" };
    }
    this.#last = frame.sequence;
    return { kind: "frame", ...frame };
  }
}
