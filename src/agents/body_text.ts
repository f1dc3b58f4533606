/** Turns an agent's text into the body of a push. */
import { FORBIDDEN_CONTROLS } from "../protocol/canonical.ts";
import { BODY_MAX_BYTES } from "../protocol/limits.ts";

const CUT = "…";

/** Undefined if nothing is left. A text that is too long keeps its end, because the question is there. */
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

/** Continuation bytes begin with the bits 10 (RFC 3629). */
function isFirstByte(byte: number): boolean {
  return (byte & 0xc0) !== 0x80;
}
