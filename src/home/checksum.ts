/** CRC-32 (ISO 3309, as in gzip): tells a line that was cut or overwritten from a whole one. */

const POLYNOMIAL = 0xedb88320;

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1;
  return value;
});

/** Eight lower-case hexadecimal digits. */
export function checksum(text: string): string {
  let sum = 0xffff_ffff;
  for (const byte of new TextEncoder().encode(text)) {
    sum = (sum >>> 8) ^ (TABLE[(sum ^ byte) & 0xff] ?? 0);
  }
  return (~sum >>> 0).toString(16).padStart(8, "0");
}
