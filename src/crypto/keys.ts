/** Key pairs of P-256, and public keys as text for the wire. */
import { decodeBase64url, encodeBase64url } from "../async/encodings.ts";

const P256 = { name: "ECDH", namedCurve: "P-256" } as const;
/** An uncompressed point. */
const POINT_BYTES = 65;

/** The private key leaves WebCrypto only when `extractable` is set. */
export function generateKeyPair(options: { extractable?: boolean } = {}): Promise<CryptoKeyPair> {
  return crypto.subtle.generateKey(P256, options.extractable ?? false, ["deriveBits"]);
}

/** base64url of the uncompressed point: 87 characters. */
export async function exportPublicKey(publicKey: CryptoKey): Promise<string> {
  return encodeBase64url(new Uint8Array(await crypto.subtle.exportKey("raw", publicKey)));
}

/**
 * Undefined when the text is not a point of the curve.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { exportPublicKey, generateKeyPair, importPublicKey } from "@svc/svc";
 *
 * const text = await exportPublicKey((await generateKeyPair()).publicKey);
 * assert.equal(text.length, 87);
 * assert.ok(await importPublicKey(text));
 * assert.equal(await importPublicKey("no key"), undefined);
 * ```
 */
export async function importPublicKey(text: string): Promise<CryptoKey | undefined> {
  const point = decodeBase64url(text);
  if (point?.length !== POINT_BYTES) return undefined;
  try {
    const key = await crypto.subtle.importKey("raw", point, P256, true, []);
    // Deno checks that the point is on the curve only when the key is used.
    await crypto.subtle.exportKey("raw", key);
    return key;
  } catch {
    return undefined;
  }
}

/** The private key, for a file that only its owner may read. Throws when the pair is not extractable. */
export async function exportKeyPair({ privateKey }: CryptoKeyPair): Promise<JsonWebKey> {
  return await crypto.subtle.exportKey("jwk", privateKey);
}

/** The pair from `exportKeyPair`, not extractable. Throws when `jwk` is not a private key of P-256. */
export async function importKeyPair(jwk: JsonWebKey): Promise<CryptoKeyPair> {
  const { kty, crv, x, y } = jwk;
  return {
    privateKey: await crypto.subtle.importKey("jwk", jwk, P256, false, ["deriveBits"]),
    publicKey: await crypto.subtle.importKey("jwk", { kty, crv, x, y } as JsonWebKey, P256, true, []),
  };
}
