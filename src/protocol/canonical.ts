/** The canonical form of a message's text, in which both sides of a marker hash it. */

const CONTROLS_BUT_LF = /[\u0000-\u0009\u000b-\u001f\u007f]/g;

/** CR and CRLF become LF, TAB becomes four spaces, other control characters go; NFC; trimmed. */
export function canonicalText(text: string): string {
  const plain = text
    .replace(/\r\n?/g, "\n")
    .replace(/\t/g, "    ")
    .replace(CONTROLS_BUT_LF, "");
  return plain.normalize("NFC").trim();
}

/** Hex SHA-256 of the canonical form. */
export async function canonicalDigest(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(canonicalText(text));
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Control characters other than LF and TAB: typed into a terminal they are keys. C1 is among them. */
export const FORBIDDEN_CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

/** The one normalisation a body gets at the door: CRLF becomes LF. */
export function normalizeBody(body: string): string {
  return body.replace(/\r\n/g, "\n");
}
