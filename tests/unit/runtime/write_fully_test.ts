/** All bytes leave, though each call takes only some. */

import assert from "node:assert/strict";
import { writeFully } from "../../../src/runtime/write_fully.ts";

Deno.test("short writes are continued and a full pipe is tried again", () => {
  const taken: number[] = [];
  let calls = 0;
  writeFully((bytes) => {
    if (++calls % 2 === 0) throw Object.assign(new Error("full"), { code: "EAGAIN" });
    taken.push(...bytes.subarray(0, 2));
    return Math.min(2, bytes.length);
  }, new Uint8Array([1, 2, 3, 4, 5]));
  assert.deepEqual(taken, [1, 2, 3, 4, 5]);
});

Deno.test("another failure is thrown as it is", () => {
  const gone = Object.assign(new Error("gone"), { code: "EPIPE" });
  const write = (): number => {
    throw gone;
  };
  assert.throws(() => writeFully(write, new Uint8Array(1)), gone);
});
