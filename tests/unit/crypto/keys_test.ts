/** Key pairs and base64url: encoding and decoding agree, and invalid input is refused. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { decodeBase64url, encodeBase64url } from "../../../src/async/encodings.ts";
import {
  exportKeyPair,
  exportPublicKey,
  generateKeyPair,
  importKeyPair,
  importPublicKey,
} from "../../../src/crypto/keys.ts";
import { isEnough } from "../../../src/crypto/mode.ts";
import { PublicKey } from "../../../src/protocol/push.ts";

Deno.test("base64url decodes to the same bytes, and only one text encodes them", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
    const word = encodeBase64url(bytes);
    assert.equal(word, bytes.toBase64({ alphabet: "base64url", omitPadding: true }));
    assert.deepEqual(decodeBase64url(word), bytes);
  }));
  for (const wrong of ["A", "AB", "A=", "A+/A", "é", " AAA", "AAAA\n"]) {
    assert.equal(decodeBase64url(wrong), undefined, wrong);
  }
});

Deno.test("a phone's private key cannot be extracted from WebCrypto [pair-keys, sec-browser-keys]", async () => {
  const pair = await generateKeyPair();
  assert.equal(pair.privateKey.extractable, false);
  await assert.rejects(exportKeyPair(pair));
});

Deno.test("a host's key pair survives in a file, and is not extractable once read", async () => {
  const pair = await generateKeyPair({ extractable: true });
  const read = await importKeyPair(JSON.parse(JSON.stringify(await exportKeyPair(pair))));
  assert.equal(read.privateKey.extractable, false);
  assert.equal(await exportPublicKey(read.publicKey), await exportPublicKey(pair.publicKey));
  await assert.rejects(importKeyPair({ kty: "EC", crv: "P-256" }));
});

Deno.test("a public key is a point of the curve, in the wire's form", async () => {
  const word = await exportPublicKey((await generateKeyPair()).publicKey);
  assert.ok(PublicKey.safeParse(word).success);
  assert.ok(await importPublicKey(word));
  for (
    const wrong of ["", word.slice(0, -1), `A${word.slice(1)}`, `${word.slice(0, 40)}AAAA${word.slice(44)}`]
  ) {
    assert.equal(await importPublicKey(wrong), undefined);
  }
});

Deno.test("a host's floor is met by the same mode and by stronger ones [seal-floor]", () => {
  const modes = ["off", "base", "psk"] as const;
  const met = modes.map((floor) => modes.filter((mode) => isEnough(mode, floor)));
  assert.deepEqual(met, [["off", "base", "psk"], ["base", "psk"], ["psk"]]);
  assert.ok(isEnough("off"));
});
