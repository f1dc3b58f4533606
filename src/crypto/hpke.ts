/** The one HPKE suite, and the fields that keys and ciphertexts are bound to. */
import { Aes256Gcm, CipherSuite, DhkemP256HkdfSha256, HkdfSha256 } from "@hpke/core";
import { encodeUtf8 } from "../async/encodings.ts";

export const SUITE = new CipherSuite({
  kem: new DhkemP256HkdfSha256(),
  kdf: new HkdfSha256(),
  aead: new Aes256Gcm(),
});

/** Bytes of an encapsulated key: an uncompressed point of P-256 (RFC 9180, section 7.1). */
export const ENC_BYTES = 65;

/** SHA-256 of an injective encoding of the fields. */
export async function bind(fields: readonly string[]): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", encodeFields(fields)));
}

/** The UTF-8 of the fields as a JSON array. */
export function encodeFields(fields: readonly string[]): Uint8Array<ArrayBuffer> {
  return encodeUtf8(JSON.stringify(fields));
}
