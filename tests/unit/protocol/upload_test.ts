/** The announcement of a file and its chunks, as bytes. */
import assert from "node:assert/strict";
import { encodeUtf8 } from "../../../src/async/encodings.ts";
import {
  decodeKeyInput,
  decodeUpload,
  encodeKeyInput,
  encodeUpload,
  type UploadInput,
} from "../../../src/protocol/key_input.ts";
import { UPLOAD_CHUNK_BYTES, UPLOAD_CONFIG_MAX_BYTES } from "../../../src/protocol/limits.ts";

Deno.test("an announcement and a chunk arrive as they were sent, and are not keys [up-wire]", () => {
  const inputs: UploadInput[] = [
    { type: "upload", id: 7, name: "Foto 📷.jpeg", size: 3 },
    { type: "upload.chunk", id: 7, at: 0, data: new Uint8Array([0, 1, 0x7b]) },
    {
      type: "upload.chunk",
      id: 0xffff_ffff,
      at: 0xffff_fff0,
      data: new Uint8Array(UPLOAD_CHUNK_BYTES).fill(9),
    },
    { type: "upload.stop", id: 7 },
  ];
  for (const input of inputs) {
    assert.deepEqual(decodeUpload(encodeUpload(input)), input);
    assert.equal(decodeKeyInput(encodeUpload(input)), undefined);
  }
  assert.equal(decodeUpload(encodeKeyInput({ type: "text", text: "a" })), undefined);
});

Deno.test("the announcement's length does not depend on the file's name [up-wire]", () => {
  const of = (name: string): number => encodeUpload({ type: "upload", id: 1, name, size: 1 }).length;
  assert.equal(of("a"), of("ü".repeat(255)));
});

Deno.test("malformed data is not part of a file [up-wire]", () => {
  const good = encodeUpload({ type: "upload.chunk", id: 1, at: 0, data: new Uint8Array([1, 2, 3]) });
  const declared = (length: number): Uint8Array => {
    const bytes = good.slice();
    new DataView(bytes.buffer).setUint32(9, length);
    return bytes;
  };
  const bad = [
    ...[new Uint8Array(), good.subarray(0, 12), good.subarray(0, 15), new Uint8Array([1])],
    ...[declared(0), declared(2), declared(4), declared(0xffff_ffff)],
    encodeUpload({ type: "upload.chunk", id: 1, at: 0, data: new Uint8Array() }),
    encodeUpload({ type: "upload.chunk", id: 1, at: 0, data: new Uint8Array(UPLOAD_CHUNK_BYTES + 1) }),
  ];
  for (const bytes of bad) assert.equal(decodeUpload(bytes), undefined);
  const announced = { type: "upload", id: 1, name: "a", size: 1 };
  for (
    const change of [{ size: 0 }, { size: -1 }, { size: 1.5 }, { size: UPLOAD_CONFIG_MAX_BYTES + 1 }, {
      id: -1,
    }, {
      name: "n".repeat(256),
    }, { name: 3 }]
  ) {
    const bytes = encodeUtf8(JSON.stringify({ ...announced, ...change }));
    assert.equal(decodeUpload(bytes), undefined, JSON.stringify(change));
  }
});
