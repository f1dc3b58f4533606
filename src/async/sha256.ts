/** SHA-256 of a text's UTF-8 bytes. */
import { encodeHex } from "./hex.ts";
import { encodeUtf8 } from "./utf8.ts";

export async function sha256(text: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", encodeUtf8(text)));
}

/** As lower-case hexadecimal digits. */
export async function sha256Hex(text: string): Promise<string> {
  return encodeHex(await sha256(text));
}
