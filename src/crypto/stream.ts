/** The sealed channel of one mirror: both sides' handshake, carried by `pane.open` and `pane.opened`. */
import { bind } from "./binding.ts";
import { exportPublicKey, generateKeyPair, importPublicKey } from "./keys.ts";
import type { Sealing } from "./mode.ts";
import { pskOf } from "./paired_secret.ts";
import { PlainOpener, PlainSealer } from "./plain_frames.ts";
import { type FrameOpener, type FrameSealer, StreamOpener, StreamSealer } from "./stream_frames.ts";
import { type Agreement, receivingKey, sendingKey } from "./stream_keys.ts";

/** Whose stream it is: a stream's keys work for these three and no others. */
export interface StreamParties {
  /** The phone's device id; empty while the relay has not named it. */
  phone: string;
  /** The listener's device id. */
  listener: string;
  agentSessionName: string;
}

/** Fields of `pane.open` that ask for a sealed stream, and of `pane.opened` that grant it. */
export interface StreamHello {
  /** The receiver's key of its side, fresh for this stream; base64url. */
  publicKey: string;
  /** `psk`: the paired secret is mixed in. */
  mode: "base" | "psk";
}

/** One side's ends of a stream. */
export interface StreamChannel {
  mode: Sealing;
  sealer: FrameSealer;
  opener: FrameOpener;
}

export interface PhoneHandshake {
  /** Goes into `pane.open`; `from` is the phone's device id, by which the listener finds the secret. */
  hello: StreamHello & { from?: string };
  /** Undefined when `pane.opened` does not grant what was asked: close the stream, never go on plain. */
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
 * The listener grants what a phone asked for: its half of the keys for `pane.opened`, and its ends. Undefined when the
 * phone's key is none, or when psk mode is asked for and there is no secret.
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

/** Either side's ends of a stream that is not sealed. */
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

/** Both fresh keys stand in it, so that no frame fits another stream, nor the other direction. */
function infoOf(
  { phone, listener, agentSessionName }: StreamParties,
  { from, keys, mode }: { from: string; keys: ChannelKeys["keys"]; mode: string },
): Promise<Uint8Array> {
  return bind(["svc.v1 stream", from, mode, phone, listener, agentSessionName, keys.phone, keys.listener]);
}
