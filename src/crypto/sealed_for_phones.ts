/** A text for several paired phones: sealed once with a key of its own, which is sealed for each (RFC 9180, section 6.1). */
import type { SealedForPhones } from "../protocol/push.ts";
import { decodeBase64url, encodeBase64url } from "../async/base64url.ts";
import { encodeFields } from "./binding.ts";
import { importPublicKey } from "./keys.ts";
import { pskOf } from "./paired_secret.ts";
import { SUITE } from "./suite.ts";

/** Fields of the push that the text is good for; with any other it does not open. */
export interface ToldPlace {
  id: string;
  type: string;
  agentSessionName: string;
  /** The listener's device id. */
  host: string;
}

/** A paired phone, as its host knows it. */
export interface PhoneKeys {
  deviceId: string;
  publicKey: string;
  secret: CryptoKey;
}

type Bytes = Uint8Array<ArrayBuffer>;

const INFO = new TextEncoder().encode("svc.v1 told");
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Throws when a phone's public key is none. */
export async function sealForPhones(
  text: string,
  { place, phones }: { place: ToldPlace; phones: readonly PhoneKeys[] },
): Promise<SealedForPhones> {
  const contentKey = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const key = await importContentKey(contentKey, "encrypt");
  const content = new Uint8Array(
    await crypto.subtle.encrypt(gcm(nonce, place), key, new TextEncoder().encode(text)),
  );
  const keys: SealedForPhones["keys"] = {};
  for (const phone of phones) keys[phone.deviceId] = await sealKey(contentKey, { place, phone, content });
  return {
    host: place.host,
    nonce: encodeBase64url(nonce),
    ciphertext: encodeBase64url(content),
    keys,
  };
}

/** Undefined when it was not sealed for this phone and place by the holder of the secret. */
export async function openForPhone(
  sealed: SealedForPhones,
  { place, phone, keyPair, secret }: {
    place: ToldPlace;
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
    const binding = await keyBinding(place, { phone, content });
    const contentKey = await SUITE.open({ recipientKey: keyPair, enc, info: INFO, psk }, wrapped, binding);
    const key = await importContentKey(new Uint8Array(contentKey), "decrypt");
    return strictUtf8.decode(await crypto.subtle.decrypt(gcm(nonce, place), key, content));
  } catch {
    return undefined;
  }
}

async function sealKey(
  contentKey: Bytes,
  { place, phone, content }: { place: ToldPlace; phone: PhoneKeys; content: Bytes },
): Promise<SealedForPhones["keys"][string]> {
  const recipientPublicKey = await importPublicKey(phone.publicKey);
  if (recipientPublicKey === undefined) {
    throw new TypeError(`Cannot seal for "${phone.deviceId}": its key is no point of P-256; pair it again`);
  }
  const psk = await pskOf(phone.secret, { use: "told", phone: phone.deviceId });
  const binding = await keyBinding(place, { phone: phone.deviceId, content });
  const { ct, enc } = await SUITE.seal({ recipientPublicKey, info: INFO, psk }, contentKey, binding);
  return { enc: encodeBase64url(new Uint8Array(enc)), ciphertext: encodeBase64url(new Uint8Array(ct)) };
}

function importContentKey(bytes: Bytes, use: "encrypt" | "decrypt"): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", bytes, "AES-GCM", false, [use]);
}

function gcm(iv: Bytes, { id, type, agentSessionName, host }: ToldPlace): AesGcmParams {
  return { name: "AES-GCM", iv, additionalData: encodeFields([id, type, agentSessionName, host]) };
}

/** The content is in it: a phone that has the key must not be able to put another text under it. */
async function keyBinding(
  { id, type, agentSessionName, host }: ToldPlace,
  { phone, content }: { phone: string; content: Bytes },
): Promise<Bytes> {
  const digest = encodeBase64url(new Uint8Array(await crypto.subtle.digest("SHA-256", content)));
  return encodeFields([id, type, agentSessionName, host, phone, digest]);
}
