/** Synchronous SHA-256: WebCrypto uses another thread, which costs milliseconds at the 99th percentile. */

import { createHash, timingSafeEqual } from "node:crypto";

export function sha256(data: string | Uint8Array): Uint8Array {
  return new Uint8Array(createHash("sha256").update(data).digest());
}

/** Compares in constant time. */
export function equalDigests(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
