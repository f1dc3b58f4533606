/** A stored message sealed for one device: HPKE single-shot, bound to its destination (RFC 9180, section 6.1). */
import { type Later, laterText, type SealedBody } from "../protocol/push.ts";
import { decodeBase64url, encodeBase64url, encodeUtf8 } from "../async/encodings.ts";
import { encodeFields, SUITE } from "./hpke.ts";
import { importPublicKey } from "./keys.ts";
import { pskOf } from "./paired_secret.ts";

/** The fields of the push that the ciphertext is bound to; with other values it does not open. */
export interface MessageBinding {
  id: string;
  type: string;
  /** The sender's device id, which selects the pairing. */
  from: string;
  targetDeviceId: string;
  agentSessionName: string;
  /** `data.sendAnyway` of the push. */
  sendAnyway: boolean;
  /** `data.later` of the push. */
  later?: Later | undefined;
}

export interface SealedContent {
  body: string;
  /** The message must not be acted on after this time: epoch milliseconds by the sender's clock. */
  notAfter: number;
  /** Starts at 1 and never repeats under one secret; absent in messages of older versions. */
  counter?: number | undefined;
}

const INFO = encodeUtf8("svc.v1 push");
const NUMBER_BYTES = 8;
/** This bit of the time marks a message that has a counter: no real time sets it. */
const COUNTED = 1n << 63n;
const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Seals in psk mode with the secret of the pairing, or in base mode without one. Throws TypeError when `publicKey` is
 * not a point of P-256.
 */
export async function sealMessage(
  content: SealedContent,
  { boundTo, publicKey, secret }: {
    boundTo: MessageBinding;
    /** The receiver's, as text. */
    publicKey: string;
    secret?: CryptoKey | undefined;
  },
): Promise<SealedBody> {
  const recipientPublicKey = await importPublicKey(publicKey);
  if (recipientPublicKey === undefined) {
    throw new TypeError("Cannot seal the message: the receiver's key is not a point of P-256; pair again");
  }
  const psk = secret && await pskOf(secret, { use: "push", phone: boundTo.from });
  const params = { recipientPublicKey, info: INFO, ...(psk ? { psk } : {}) };
  const { ct, enc } = await SUITE.seal(params, encodeContent(content), bindingOf(boundTo));
  return {
    mode: psk ? "psk" : "base",
    enc: encodeBase64url(new Uint8Array(enc)),
    ciphertext: encodeBase64url(new Uint8Array(ct)),
  };
}

/**
 * Returns the content; undefined unless it was sealed for this key and these fields, and in psk mode by the holder of
 * the secret.
 */
export async function openMessage(
  sealed: SealedBody,
  { boundTo, keyPair, secret }: {
    boundTo: MessageBinding;
    keyPair: CryptoKeyPair;
    secret?: CryptoKey | undefined;
  },
): Promise<SealedContent | undefined> {
  const [enc, ciphertext] = [decodeBase64url(sealed.enc), decodeBase64url(sealed.ciphertext)];
  if (enc === undefined || ciphertext === undefined) return undefined;
  const isPsk = sealed.mode === "psk";
  if (isPsk && secret === undefined) return undefined;
  try {
    const psk = isPsk && secret ? await pskOf(secret, { use: "push", phone: boundTo.from }) : undefined;
    const params = { recipientKey: keyPair, enc, info: INFO, ...(psk ? { psk } : {}) };
    return decodeContent(new Uint8Array(await SUITE.open(params, ciphertext, bindingOf(boundTo))));
  } catch {
    return undefined;
  }
}

function bindingOf(boundTo: MessageBinding): Uint8Array {
  const { id, type, from, targetDeviceId, agentSessionName, sendAnyway, later } = boundTo;
  const fields = [id, type, from, targetDeviceId, agentSessionName, sendAnyway ? "send anyway" : ""];
  return encodeFields(later === undefined ? fields : [...fields, laterText(later)]);
}

/** `notAfter u64 · body`, or `(COUNTED | notAfter) u64 · counter u64 · body`, big-endian. */
function encodeContent({ body, notAfter, counter }: SealedContent): Uint8Array {
  const text = encodeUtf8(body);
  const time = BigInt(Math.trunc(notAfter));
  const numbers = counter === undefined ? [time] : [COUNTED | time, BigInt(counter)];
  const bytes = new Uint8Array(numbers.length * NUMBER_BYTES + text.length);
  const view = new DataView(bytes.buffer);
  numbers.forEach((number, index) => view.setBigUint64(index * NUMBER_BYTES, number));
  bytes.set(text, numbers.length * NUMBER_BYTES);
  return bytes;
}

/** Throws on anything that `encodeContent` does not write. */
function decodeContent(bytes: Uint8Array<ArrayBuffer>): SealedContent {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const time = view.getBigUint64(0);
  if ((time & COUNTED) === 0n) {
    return { notAfter: Number(time), body: strictUtf8.decode(bytes.subarray(NUMBER_BYTES)) };
  }
  const counter = Number(view.getBigUint64(NUMBER_BYTES));
  if (!Number.isSafeInteger(counter) || counter < 1) {
    throw new RangeError("Cannot take the counter of the message: it is not a safe integer from 1 on");
  }
  const body = strictUtf8.decode(bytes.subarray(2 * NUMBER_BYTES));
  return { notAfter: Number(time & ~COUNTED), counter, body };
}
