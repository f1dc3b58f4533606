/** An agent's words made fit for the body of a push. */
import { FORBIDDEN_CONTROLS } from "../protocol/canonical.ts";
import { BODY_MAX_BYTES } from "../protocol/limits.ts";

const CUT = "…";

/** Undefined when nothing is left. Of a text that is too long the end stays: the question stands there. */
export function toBodyText(text: string): string | undefined {
  const lines = text.replace(/\r\n?/g, "\n").replace(new RegExp(FORBIDDEN_CONTROLS, "g"), "");
  const whole = lines.toWellFormed().trim();
  return whole === "" ? undefined : lastBytes(whole, BODY_MAX_BYTES);
}

function lastBytes(text: string, limit: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= limit) return text;
  const from = bytes.length - limit + new TextEncoder().encode(CUT).length;
  const start = bytes.findIndex((byte, at) => at >= from && isFirstByte(byte));
  return CUT + new TextDecoder().decode(bytes.subarray(start));
}

/** The bytes of a character after its first have the bits 10 in front (RFC 3629). */
function isFirstByte(byte: number): boolean {
  return (byte & 0xc0) !== 0x80;
}
