/** The canonical form in which both sides of a marker hash a text. */
import assert from "node:assert/strict";
import fc from "fast-check";
import {
  canonicalDigest,
  canonicalText,
  FORBIDDEN_CONTROLS,
  normalizeBody,
} from "../../../src/protocol/canonical.ts";

Deno.test("line ends, tabs, controls, composition and outer blanks are made alike [rm-canonical]", () => {
  assert.equal(canonicalText("a\r\nb\rc\nd"), "a\nb\nc\nd");
  assert.equal(canonicalText("a\tb"), "a    b");
  assert.equal(canonicalText("a\u001b[31mb\u0007\u007f"), "a[31mb");
  assert.equal(canonicalText("e\u0301"), "\u00e9");
  assert.equal(canonicalText("  \n a b \n\n"), "a b");
  assert.equal(canonicalText(" \t\r\n"), "");
});

Deno.test("the canonical form of a canonical text is itself [rm-canonical]", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      assert.equal(canonicalText(canonicalText(text)), canonicalText(text));
    }),
  );
});

Deno.test("the digest is the hex SHA-256 of the canonical form [rm-canonical]", async () => {
  assert.equal(
    await canonicalDigest("abc"),
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
  assert.equal(await canonicalDigest(" a\r\n\tb "), await canonicalDigest("a\n    b"));
  assert.notEqual(await canonicalDigest("a b"), await canonicalDigest("a  b"));
});

Deno.test("forbidden are all controls but line feed and tab [proto-body-controls]", () => {
  for (let code = 0; code < 0x100; code++) {
    const isControl = code < 0x20 || (code >= 0x7f && code < 0xa0);
    const isAllowed = code === 0x0a || code === 0x09;
    assert.equal(FORBIDDEN_CONTROLS.test(String.fromCharCode(code)), isControl && !isAllowed, `U+${code}`);
  }
});

Deno.test("at the door CRLF becomes LF and a lone CR stays to be refused [proto-body-crlf]", () => {
  assert.equal(normalizeBody("a\r\n\r\nb"), "a\n\nb");
  assert.equal(normalizeBody("a\rb"), "a\rb");
});
