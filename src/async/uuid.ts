/** UUIDs (RFC 9562) made from bytes: `crypto.randomUUID` exists only on https pages. */
import { encodeHex } from "./hex.ts";

/** A random UUID, version 4. */
export function randomUuid(): string {
  return uuidOf(crypto.getRandomValues(new Uint8Array(16)), 4);
}

/** The first 16 of `bytes` as a UUID of this version, with the version and variant bits set. */
export function uuidOf(bytes: Uint8Array, version: 4 | 8): string {
  const uuid = bytes.slice(0, 16);
  uuid[6] = (uuid[6] ?? 0) & 0x0f | version << 4;
  uuid[8] = (uuid[8] ?? 0) & 0x3f | 0x80;
  return encodeHex(uuid).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
