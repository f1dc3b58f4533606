/** Bytes as text and back: UTF-8, base64url, hexadecimal digits and UUIDs; and the digest of a text. */

const encoder = new TextEncoder();

export function encodeUtf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

export function utf8Length(text: string): number {
  return encoder.encode(text).length;
}

/** Undefined when the bytes are not valid UTF-8. A byte order mark is kept as a character. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Base64url without padding (RFC 4648, section 5). */
const BASE64URL = /^[A-Za-z0-9_-]*$/;

export function encodeBase64url(bytes: Uint8Array): string {
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** Returns undefined for invalid base64url, and for a non-canonical encoding. */
export function decodeBase64url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!BASE64URL.test(text) || text.length % 4 === 1) return undefined;
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  return encodeBase64url(bytes) === text ? bytes : undefined;
}

/** Lower-case digits. */
export function encodeHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Undefined for anything but pairs of lower-case digits. */
export function decodeHex(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^(?:[0-9a-f]{2})*$/.test(text)) return undefined;
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

export function concatBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}

/** A random UUID (RFC 9562), version 4: `crypto.randomUUID` exists only on https pages. */
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

/** The digest of the text's UTF-8 bytes. */
export async function sha256(text: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", encodeUtf8(text)));
}

/** The same digest as lower-case hexadecimal digits. */
export async function sha256Hex(text: string): Promise<string> {
  return encodeHex(await sha256(text));
}

const BYTE_ORDER_MARK = "\ufeff";

/** Splits off the byte order mark that some editors put at the start of a file; `mark` is `""` if there is none. */
export function withoutMark(text: string): { mark: string; rest: string } {
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : "";
  return { mark, rest: text.slice(mark.length) };
}
