/** Synchronous digests: WebCrypto uses another thread, which costs milliseconds at the 99th percentile. */

import { createHash, timingSafeEqual } from "node:crypto";
import { crc32 } from "node:zlib";

export function sha256(data: string | Uint8Array): Uint8Array {
  return new Uint8Array(createHash("sha256").update(data).digest());
}

/** Compares in constant time. */
export function equalDigests(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

/** The CRC-32 of ISO 3309: eight lower-case hexadecimal digits. */
export function crc32Hex(text: string): string {
  return crc32(text).toString(16).padStart(8, "0");
}
