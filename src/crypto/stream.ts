/** The sealed channel of one mirror: both sides' handshake, and the frames of each direction. */
import { concatBytes, encodeUtf8 } from "../async/encodings.ts";
import { Mutex } from "../async/mutex.ts";
import { decodeSequenced, encodeSequenced } from "../protocol/pane_frame.ts";
import { bind, ENC_BYTES, SUITE } from "./hpke.ts";
import { exportPublicKey, generateKeyPair, importPublicKey } from "./keys.ts";
import type { Sealing } from "./mode.ts";
import { pskOf } from "./paired_secret.ts";

/** The ends and the session of a stream, to which its keys are bound. */
export interface StreamParties {
  /** The phone's device id; empty until the relay has assigned it. */
  phone: string;
  /** The listener's device id. */
  listener: string;
  agentSessionName: string;
}

/** Fields of `pane.open` that ask for a sealed stream, and of `pane.opened` that grant it. */
export interface StreamHello {
  /** This side's receiving key, generated for this stream; base64url. */
  publicKey: string;
  /** `psk`: the paired secret is mixed in. */
  mode: "base" | "psk";
}

/** One side of a stream: how it sends and receives. */
export interface StreamChannel {
  mode: Sealing;
  sealer: FrameSealer;
  opener: FrameOpener;
}

export interface PhoneHandshake {
  /** Fields of `pane.open`; `from` is the phone's device id, by which the listener finds the secret. */
  hello: StreamHello & { from?: string };
  /**
   * Returns the channel; undefined when `pane.opened` does not grant the requested mode: then close the stream, and
   * never continue unsealed.
   */
  finish(answer: Partial<StreamHello>): Promise<StreamChannel | undefined>;
}

/** The phone asks for a sealed stream: psk mode with the secret of the pairing, base mode without one. */
export async function beginStream(
  parties: StreamParties,
  { secret }: { secret?: CryptoKey | undefined } = {},
): Promise<PhoneHandshake> {
  const own = await generateKeyPair();
  const mode = secret === undefined ? "base" : "psk";
  const hello: StreamHello = { publicKey: await exportPublicKey(own.publicKey), mode };
  return {
    hello: { ...hello, ...(parties.phone === "" ? {} : { from: parties.phone }) },
    finish: async (answer) => {
      if (answer.mode !== mode || answer.publicKey === undefined) return undefined;
      const keys = { phone: hello.publicKey, listener: answer.publicKey };
      return await makeChannel(parties, { side: "phone", own, keys, mode, secret });
    },
  };
}

/**
 * The listener's side: its public key for `pane.opened`, and its channel. Undefined when the phone's key is not a point of
 * P-256, or when psk mode is requested and there is no secret.
 */
export async function acceptStream(
  parties: StreamParties,
  { hello, secret }: { hello: StreamHello; secret?: CryptoKey | undefined },
): Promise<{ hello: StreamHello; channel: StreamChannel } | undefined> {
  const { mode } = hello;
  if (mode === "psk" && secret === undefined) return undefined;
  const own = await generateKeyPair();
  const answer: StreamHello = { publicKey: await exportPublicKey(own.publicKey), mode };
  const channel = await makeChannel(parties, {
    side: "listener",
    own,
    keys: { phone: hello.publicKey, listener: answer.publicKey },
    mode,
    secret: mode === "psk" ? secret : undefined,
  });
  return channel && { hello: answer, channel };
}

/** Either side of a stream that is not sealed. */
export function plainChannel(): StreamChannel {
  return { mode: "off", sealer: new PlainSealer(), opener: new PlainOpener() };
}

interface ChannelKeys {
  side: "phone" | "listener";
  own: CryptoKeyPair;
  /** Both public keys, as text. */
  keys: { phone: string; listener: string };
  mode: "base" | "psk";
  secret: CryptoKey | undefined;
}

async function makeChannel(
  parties: StreamParties,
  { side, own, keys, mode, secret }: ChannelKeys,
): Promise<StreamChannel | undefined> {
  const other = side === "phone" ? "listener" : "phone";
  const theirs = await importPublicKey(keys[other]);
  if (theirs === undefined) return undefined;
  const psk = secret && await pskOf(secret, { use: "stream", phone: parties.phone });
  const agreementFrom = async (from: "phone" | "listener"): Promise<Agreement> => ({
    info: await infoOf(parties, { from, keys, mode }),
    psk,
  });
  const incoming = await agreementFrom(other);
  return {
    mode,
    sealer: new StreamSealer(await sendingKey(theirs, await agreementFrom(side))),
    opener: new StreamOpener((enc) => receivingKey(own, { enc, ...incoming })),
  };
}

/** Includes both fresh keys and the direction, so that a frame opens in no other stream or direction. */
function infoOf(
  { phone, listener, agentSessionName }: StreamParties,
  { from, keys, mode }: { from: string; keys: ChannelKeys["keys"]; mode: string },
): Promise<Uint8Array> {
  return bind(["svc.v1 stream", from, mode, phone, listener, agentSessionName, keys.phone, keys.listener]);
}

/** Input of HPKE's key schedule: both sides must use the same. */
interface Agreement {
  info: Uint8Array;
  psk?: { id: Uint8Array; key: Uint8Array } | undefined;
}

const FRAME_KEY = { label: encodeUtf8("svc.v1 frames"), bytes: 32 };

interface Exporter {
  export(context: Uint8Array, bytes: number): Promise<ArrayBuffer>;
}

/** The sender's side: `enc` is sent to the receiver with the first frame. */
async function sendingKey(
  recipientPublicKey: CryptoKey,
  { info, psk }: Agreement,
): Promise<{ enc: Uint8Array; key: CryptoKey }> {
  const context = await SUITE.createSenderContext({ recipientPublicKey, info, ...(psk ? { psk } : {}) });
  return { enc: new Uint8Array(context.enc), key: await frameKey(context, "encrypt") };
}

/** The receiver's side. Throws when `enc` is not an encapsulated key. */
async function receivingKey(
  recipientKey: CryptoKeyPair,
  { enc, info, psk }: Agreement & { enc: Uint8Array },
): Promise<CryptoKey> {
  if (enc.length !== ENC_BYTES) {
    throw new RangeError(`Cannot take an encapsulated key of ${enc.length} bytes`);
  }
  const context = await SUITE.createRecipientContext({ recipientKey, enc, info, ...(psk ? { psk } : {}) });
  return await frameKey(context, "decrypt");
}

async function frameKey(context: Exporter, use: "encrypt" | "decrypt"): Promise<CryptoKey> {
  const bytes = await context.export(FRAME_KEY.label, FRAME_KEY.bytes);
  return await crypto.subtle.importKey("raw", bytes, "AES-GCM", false, [use]);
}

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
