/** Writes all bytes through a call that may write only some of them. */

import { codeOf } from "./failure.ts";

/** The pause before writing again to a full pipe or terminal that another process made non-blocking, in milliseconds. */
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
