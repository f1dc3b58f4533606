/** Binary frames: the header that the relay routes by and the plain payload. */
import assert from "node:assert/strict";
import {
  decodeBinaryFrame,
  decodeSequenced,
  encodeBinaryFrame,
  encodeSequenced,
  KEY_FRAME,
  PANE_FRAME,
} from "../../../src/protocol/pane_frame.ts";

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

Deno.test("the header is the kind and the stream, big-endian [bin-header]", () => {
  const frame = { kind: PANE_FRAME, stream: 0x01020304, payload: bytes(9, 8) };
  assert.deepEqual(encodeBinaryFrame(frame), bytes(1, 1, 2, 3, 4, 9, 8));
  assert.deepEqual(decodeBinaryFrame(bytes(1, 1, 2, 3, 4, 9, 8)), frame);
});

Deno.test("a frame may be empty, and its stream uses all 32 bits", () => {
  const frame = { kind: KEY_FRAME, stream: 0xffff_ffff, payload: bytes() };
  assert.deepEqual(decodeBinaryFrame(encodeBinaryFrame(frame)), frame);
});

Deno.test("a short frame and an unknown kind are rejected [bin-kinds]", () => {
  assert.equal(decodeBinaryFrame(bytes()), undefined);
  assert.equal(decodeBinaryFrame(bytes(1, 0, 0, 0)), undefined);
  for (const kind of [0, 3, 255]) assert.equal(decodeBinaryFrame(bytes(kind, 0, 0, 0, 1)), undefined);
});

Deno.test("a frame is decoded from within a larger buffer", () => {
  const whole = bytes(7, 7, 2, 0, 0, 0, 5, 42, 7);
  assert.deepEqual(decodeBinaryFrame(whole.subarray(2, 8)), { kind: 2, stream: 5, payload: bytes(42) });
});

Deno.test("the plain payload is a 64-bit sequence followed by the bytes [bin-plain]", () => {
  const payload = encodeSequenced(0x0102030405060708n, bytes(0x4f, 0xff));
  assert.deepEqual(payload, bytes(1, 2, 3, 4, 5, 6, 7, 8, 0x4f, 0xff));
  assert.deepEqual(decodeSequenced(payload), { sequence: 0x0102030405060708n, bytes: bytes(0x4f, 0xff) });
  const last = 2n ** 64n - 1n;
  assert.equal(decodeSequenced(encodeSequenced(last, bytes()))?.sequence, last);
  assert.equal(decodeSequenced(bytes(1, 2, 3, 4, 5, 6, 7)), undefined);
});
