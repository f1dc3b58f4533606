/** Splits a stream of bytes into lines of bounded length. */
import { concatBytes } from "../async/bytes.ts";

/** The longest line of the control socket in bytes; a peer that sends a longer one is disconnected. */
export const MAX_LINE_BYTES = 1024 * 1024;

const NEWLINE = 0x0a;

/** Yields each complete line without its line end. Ends early when a line exceeds the limit. */
export async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number = MAX_LINE_BYTES,
): AsyncIterable<string> {
  const decoder = new TextDecoder();
  let parts: Uint8Array[] = [];
  let held = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      if (held + end - start > maxBytes) return;
      yield decoder.decode(concatBytes([...parts, chunk.subarray(start, end)]));
      [parts, held, start] = [[], 0, end + 1];
    }
    held += chunk.length - start;
    if (held > maxBytes) return;
    if (start < chunk.length) parts.push(chunk.slice(start));
  }
}
