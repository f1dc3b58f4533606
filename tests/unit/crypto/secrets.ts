/** Secrets and texts for the tests in this folder. */
import assert from "node:assert/strict";
import { importSecret, newSecret } from "../../../src/crypto/paired_secret.ts";

export const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
export const bytes = (word: string): Uint8Array => new TextEncoder().encode(word);

export async function secretKey(word = newSecret()): Promise<CryptoKey> {
  const key = await importSecret(word);
  assert.ok(key);
  return key;
}
