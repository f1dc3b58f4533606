/** The six words that phone and host show after pairing: equal only when both have the same secret and keys. */
import { wordlist } from "@scure/bip39/wordlists/english.js";
import { deriveBytes } from "./paired_secret.ts";

/** 66 bits. */
export const PHRASE_WORDS = 6;

/** Bits of each word: the list has 2,048 words. */
const WORD_BITS = 11n;

/**
 * Rounds of key derivation for one phrase (about 50 ms): an attacker who has the secret and controls the relay must try
 * 2^33 keys on each side to make both show the same words before the code expires.
 */
const ROUNDS = 200_000;

interface PairedDevices {
  phone: { deviceId: string; publicKey: string };
  listener: { deviceId: string; publicKey: string };
}

/** Returns the words that both sides show. */
export async function checkPhrase(secret: CryptoKey, { phone, listener }: PairedDevices): Promise<string[]> {
  const ids = [phone.deviceId, phone.publicKey, listener.deviceId, listener.publicKey];
  const bytes = await slowly(
    await deriveBytes(secret, { use: "check phrase", context: JSON.stringify(ids) }),
  );
  let bits = new DataView(bytes.buffer).getBigUint64(0) << 8n | BigInt(bytes[8] ?? 0);
  return Array.from({ length: PHRASE_WORDS }, () => {
    const word = wordlist[Number(bits % (1n << WORD_BITS))] ?? "";
    bits >>= WORD_BITS;
    return word;
  });
}

/** PBKDF2 with HMAC-SHA-256 (RFC 8018, section 5.2), without salt, because its input is unique. */
async function slowly(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const key = await crypto.subtle.importKey("raw", bytes, "PBKDF2", false, ["deriveBits"]);
  const params = { name: "PBKDF2", hash: "SHA-256", salt: new Uint8Array(), iterations: ROUNDS };
  return new Uint8Array(await crypto.subtle.deriveBits(params, key, bytes.length * 8));
}
