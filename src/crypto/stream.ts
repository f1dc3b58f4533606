/** The sealed channel of one mirror: both sides' handshake, carried by `pane.open` and `pane.opened`. */
import { bind, ENC_BYTES, SUITE } from "./hpke.ts";
import { exportPublicKey, generateKeyPair, importPublicKey } from "./keys.ts";
import type { Sealing } from "./mode.ts";
import { pskOf } from "./paired_secret.ts";
import {
  type FrameOpener,
  type FrameSealer,
  PlainOpener,
  PlainSealer,
  StreamOpener,
  StreamSealer,
} from "./stream_frames.ts";
import { encodeUtf8 } from "../async/encodings.ts";

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
