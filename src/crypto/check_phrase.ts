/** The six words that phone and host show after pairing: equal only when both have the same secret and keys. */
import { wordlist } from "@scure/bip39/wordlists/english.js";
import { deriveBytes } from "./paired_secret.ts";

/** 66 bits. */
export const PHRASE_WORDS = 6;

/** Of 2,048 words. */
const WORD_BITS = 11n;

interface PairedDevices {
  phone: { deviceId: string; publicKey: string };
  listener: { deviceId: string; publicKey: string };
}

export async function checkPhrase(secret: CryptoKey, { phone, listener }: PairedDevices): Promise<string[]> {
  const ids = [phone.deviceId, phone.publicKey, listener.deviceId, listener.publicKey];
  const bytes = await deriveBytes(secret, { use: "check phrase", context: JSON.stringify(ids) });
  let bits = new DataView(bytes.buffer).getBigUint64(0) << 8n | BigInt(bytes[8] ?? 0);
  return Array.from({ length: PHRASE_WORDS }, () => {
    const word = wordlist[Number(bits % (1n << WORD_BITS))] ?? "";
    bits >>= WORD_BITS;
    return word;
  });
}
