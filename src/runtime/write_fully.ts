/** Writes all bytes through a call that may take only some of them. */

import { codeOf } from "./failure.ts";

/** How long to wait, in milliseconds, for a full pipe or terminal that was left non-blocking by another process. */
const RETRY_MS = 1;

/** @throws what `write` throws, with code `EPIPE` when the reader is gone. */
export function writeFully(write: (bytes: Uint8Array) => number, bytes: Uint8Array): void {
  let rest = bytes;
  while (rest.length > 0) rest = rest.subarray(writeOrWait(write, rest));
}

function writeOrWait(write: (bytes: Uint8Array) => number, bytes: Uint8Array): number {
  try {
    return write(bytes);
  } catch (error) {
    if (codeOf(error) !== "EAGAIN") throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    return 0;
  }
}
