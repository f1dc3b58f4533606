/** A push from a host to its paired phones: the text is sealed once with a fresh key, and that key once for each phone (RFC 9180, section 6.1). */
import { decodeBase64url, encodeBase64url, encodeUtf8 } from "../async/encodings.ts";
import { SKEW_MS } from "../protocol/limits.ts";
import type { Push, PushRequestInput, SealedForPhones } from "../protocol/push.ts";
import { decodePushContent, encodePushContent } from "../protocol/sealed_text.ts";
import { encodeFields, SUITE } from "./hpke.ts";
import { importPublicKey } from "./keys.ts";
import { pskOf } from "./paired_secret.ts";

/** The sealed text is bound to the id. */
export type HostPush = PushRequestInput & { id: string };

/**
 * Returns the push unchanged when no phone is paired; otherwise with title, body and data sealed, and `shown` as its
 * plain data.
 */
export async function sealHostPush(
  push: HostPush,
  { host, phones, shown, now = Date.now() }: {
    /** The listener's device id. */
    host: string;
    phones: readonly PhoneKeys[];
    shown?: Record<string, unknown> | undefined;
    /** Epoch milliseconds. */
    now?: number;
  },
): Promise<HostPush> {
  if (phones.length === 0) return push;
  const { title, body, data, ...rest } = push;
  const { ttlSeconds } = rest;
  const until = ttlSeconds === undefined ? undefined : now + ttlSeconds * 1_000;
  const text = encodePushContent({ title, body, data, at: now, until });
  const sealedFor = await sealForPhones(text, { boundTo: bindingOf(push, host), phones });
  return { ...rest, ...(shown ? { data: shown } : {}), sealedFor };
}

/** `sealedAt` and `sealedUntil` are epoch milliseconds by the host's clock; hosts of the first version omit them. */
export type OpenedHostPush = Push & { sealedAt?: number | undefined; sealedUntil?: number | undefined };

/** The push with its text opened; undefined when it was not sealed for this phone. */
export async function openHostPush(
  push: Push,
  keys: { phone: string; keyPair: CryptoKeyPair; secret: CryptoKey },
): Promise<OpenedHostPush | undefined> {
  const { sealedFor } = push;
  if (sealedFor === undefined) return undefined;
  const text = await openForPhone(sealedFor, { ...keys, boundTo: bindingOf(push, sealedFor.host) });
  const content = text === undefined ? undefined : decodePushContent(text);
  if (content === undefined) return undefined;
  const { title: _title, body: _body, data: _data, ...rest } = push;
  const { at: sealedAt, until: sealedUntil, ...texts } = content;
  return { ...rest, ...texts, sealedAt, sealedUntil };
}

/** True if the time that the host set has passed, allowing for clock skew. `now`: epoch milliseconds. */
export function isOver({ sealedUntil = Infinity }: OpenedHostPush, now: number): boolean {
  return now > sealedUntil + SKEW_MS;
}

function bindingOf({ id, type, agentSessionName = "" }: HostPush | Push, host: string): HostPushBinding {
  return { id, type, agentSessionName, host };
}

/** The fields of the push that the text is bound to; with other values it does not open. */
export interface HostPushBinding {
  id: string;
  type: string;
  agentSessionName: string;
  /** The listener's device id. */
  host: string;
}

/** The keys that a host has of a paired phone. */
export interface PhoneKeys {
  deviceId: string;
  publicKey: string;
  secret: CryptoKey;
}

type Bytes = Uint8Array<ArrayBuffer>;

const INFO = encodeUtf8("svc.v1 told");
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Seals the text for each phone. Throws TypeError when a phone's public key is not a point of P-256. */
export async function sealForPhones(
  text: string,
  { boundTo, phones }: { boundTo: HostPushBinding; phones: readonly PhoneKeys[] },
): Promise<SealedForPhones> {
  const contentKey = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const key = await importContentKey(contentKey, "encrypt");
  const content = new Uint8Array(
    await crypto.subtle.encrypt(gcm(nonce, boundTo), key, encodeUtf8(text)),
  );
  const keys: SealedForPhones["keys"] = {};
  for (const phone of phones) keys[phone.deviceId] = await sealKey(contentKey, { boundTo, phone, content });
  return {
    host: boundTo.host,
    nonce: encodeBase64url(nonce),
    ciphertext: encodeBase64url(content),
    keys,
  };
}

/** Returns the text; undefined unless the holder of the secret sealed it for this phone and these fields. */
export async function openForPhone(
  sealed: SealedForPhones,
  { boundTo, phone, keyPair, secret }: {
    boundTo: HostPushBinding;
    /** This phone's device id. */
    phone: string;
    keyPair: CryptoKeyPair;
    secret: CryptoKey;
  },
): Promise<string | undefined> {
  const own = Object.hasOwn(sealed.keys, phone) ? sealed.keys[phone] : undefined;
  const [nonce, content] = [decodeBase64url(sealed.nonce), decodeBase64url(sealed.ciphertext)];
  const [enc, wrapped] = [decodeBase64url(own?.enc ?? ""), decodeBase64url(own?.ciphertext ?? "")];
  if (!own || !nonce || !content || !enc || !wrapped) return undefined;
  try {
    const psk = await pskOf(secret, { use: "told", phone });
    const binding = await keyBinding(boundTo, { phone, content });
    const contentKey = await SUITE.open({ recipientKey: keyPair, enc, info: INFO, psk }, wrapped, binding);
    const key = await importContentKey(new Uint8Array(contentKey), "decrypt");
    return strictUtf8.decode(await crypto.subtle.decrypt(gcm(nonce, boundTo), key, content));
  } catch {
    return undefined;
  }
}

async function sealKey(
  contentKey: Bytes,
  { boundTo, phone, content }: { boundTo: HostPushBinding; phone: PhoneKeys; content: Bytes },
): Promise<SealedForPhones["keys"][string]> {
  const recipientPublicKey = await importPublicKey(phone.publicKey);
  if (recipientPublicKey === undefined) {
    throw new TypeError(
      `Cannot seal for "${phone.deviceId}": its key is not a point of P-256; pair it again`,
    );
  }
  const psk = await pskOf(phone.secret, { use: "told", phone: phone.deviceId });
  const binding = await keyBinding(boundTo, { phone: phone.deviceId, content });
  const { ct, enc } = await SUITE.seal({ recipientPublicKey, info: INFO, psk }, contentKey, binding);
  return { enc: encodeBase64url(new Uint8Array(enc)), ciphertext: encodeBase64url(new Uint8Array(ct)) };
}

function importContentKey(bytes: Bytes, use: "encrypt" | "decrypt"): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", bytes, "AES-GCM", false, [use]);
}

function gcm(iv: Bytes, { id, type, agentSessionName, host }: HostPushBinding): AesGcmParams {
  return { name: "AES-GCM", iv, additionalData: encodeFields([id, type, agentSessionName, host]) };
}

/** Includes the content, so that a phone that has the key cannot seal another text with it. */
async function keyBinding(
  { id, type, agentSessionName, host }: HostPushBinding,
  { phone, content }: { phone: string; content: Bytes },
): Promise<Bytes> {
  const digest = encodeBase64url(new Uint8Array(await crypto.subtle.digest("SHA-256", content)));
  return encodeFields([id, type, agentSessionName, host, phone, digest]);
}
