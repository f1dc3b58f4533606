/** A QR code that fits a terminal of 80 × 24. */
import { renderUnicodeCompact } from "uqr";

/** Lines of half blocks, two rows of the code in each. */
export function qrLines(text: string): string[] {
  return renderUnicodeCompact(text, { ecc: "L", border: 1 }).split("\n");
}
