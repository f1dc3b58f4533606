/** Bytes as text: hex, base64url, UTF-8, SHA-256 and UUIDs. */
import assert from "node:assert/strict";
import {
  decodeBase64url,
  decodeHex,
  decodeUtf8,
  encodeBase64url,
  encodeHex,
  encodeUtf8,
  randomUuid,
  sha256Hex,
  utf8Length,
  uuidOf,
} from "../../../src/async/encodings.ts";

Deno.test("base64url has no padding and decodes to the same bytes", () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
  for (const length of [0, 1, 2, 3, 255, 256]) {
    const part = bytes.subarray(0, length);
    const text = encodeBase64url(part);
    assert.match(text, /^[A-Za-z0-9_-]*$/);
    assert.deepEqual(decodeBase64url(text), new Uint8Array(part));
  }
  assert.equal(encodeBase64url(new Uint8Array([255, 239])), "_-8");
});

Deno.test("base64url: other alphabets, padding and non-canonical encodings are refused", () => {
  for (const text of ["A", "AB", "AA==", "A A", "a+b/", "YQ\n", "é"]) {
    assert.equal(decodeBase64url(text), undefined, JSON.stringify(text));
  }
});

Deno.test("hex is lower case with two digits per byte", () => {
  assert.equal(encodeHex(new Uint8Array([0, 1, 0xab, 255])), "0001abff");
  assert.deepEqual(decodeHex("0001abff"), new Uint8Array([0, 1, 0xab, 255]));
  for (const text of ["0", "0g", "AB", " 00"]) assert.equal(decodeHex(text), undefined);
});

Deno.test("SHA-256 of a text", async () => {
  assert.equal(
    await sha256Hex("abc"),
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
});

Deno.test("UTF-8: invalid bytes are undefined, a byte order mark is kept", () => {
  assert.equal(decodeUtf8(encodeUtf8("\ufeffé")), "\ufeffé");
  assert.equal(decodeUtf8(new Uint8Array([0xff])), undefined);
  assert.equal(utf8Length("é€"), 5);
});

Deno.test("a UUID has its version and variant", () => {
  assert.equal(uuidOf(new Uint8Array(32).fill(255), 8), "ffffffff-ffff-8fff-bfff-ffffffffffff");
  assert.match(randomUuid(), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

function decodeText(text: string): string | undefined {
  const bytes = decodeBase64url(text);
  return bytes && decodeUtf8(bytes);
}

Deno.test("base64url of a text follows RFC 4648", () => {
  for (const text of ["", "f", "fo", "foo", "foob", "ü💬", "svc_-_"]) {
    const bytes = new TextEncoder().encode(text);
    assert.equal(encodeBase64url(bytes), bytes.toBase64({ alphabet: "base64url", omitPadding: true }));
    assert.equal(decodeText(encodeBase64url(bytes)), text);
  }
  for (const junk of ["a", "====", "a+b/", "____", "\u00e9"]) {
    assert.equal(decodeText(junk), undefined, junk);
  }
});
