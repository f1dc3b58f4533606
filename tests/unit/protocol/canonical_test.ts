/** The canonical form of a text, which both sides of a marker hash. */
import assert from "node:assert/strict";
import fc from "fast-check";
import {
  canonicalDigest,
  canonicalText,
  FORBIDDEN_CONTROLS,
  normalizeBody,
} from "../../../src/protocol/canonical.ts";

Deno.test("line endings, tabs, control characters, composition and outer whitespace are normalized [rm-canonical]", () => {
  assert.equal(canonicalText("a\r\nb\rc\nd"), "a\nb\nc\nd");
  assert.equal(canonicalText("a\tb"), "a    b");
  assert.equal(canonicalText("a\u001b[31mb\u0007\u007f"), "a[31mb");
  assert.equal(canonicalText("e\u0301"), "\u00e9");
  assert.equal(canonicalText("  \n a b \n\n"), "a b");
  assert.equal(canonicalText(" \t\r\n"), "");
});

Deno.test("line separators become line feeds, and invisible characters are removed [rm-invisible]", () => {
  assert.equal(canonicalText("a\u2028b\u2029c\u0085d"), "a\nb\nc\nd");
  const unseen =
    "\u00ad\u034f\u061c\u115f\u17b4\u180e\u200b\u200c\u200d\u200e\u202a\u2060\u2066\u3164\ufe0f\ufeff\ufff9";
  const rare = "\u{1d173}\u{e0001}\u{e0041}\u{e0100}";
  for (const char of unseen + rare) assert.equal(canonicalText(`a${char}b`), "ab", JSON.stringify(char));
  assert.equal(canonicalText("a\u200be\u200d\u0301"), "a\u00e9");
});

Deno.test("texts that look different remain different [rm-invisible]", () => {
  const different = [
    ["\u{1f468}\u200d\u{1f469}\u200d\u{1f467}", "\u{1f468}\u{1f469}\u{1f467}"],
    ["\u2764\ufe0f", "\u2764"],
    ["\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}", "\u{1f3f4}"],
    [
      "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
      "\u0646\u0645\u06cc\u062e\u0648\u0627\u0647\u0645",
    ],
    ["\u0915\u094d\u200c\u0937", "\u0915\u094d\u0937"],
    ["a b", "a\u2009b"],
    ["l", "\u0406"],
  ];
  for (const [one = "", other = ""] of different) assert.notEqual(canonicalText(one), canonicalText(other));
});

Deno.test("canonicalization is idempotent [rm-canonical]", () => {
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

Deno.test("all control characters except line feed and tab are forbidden [proto-body-controls]", () => {
  for (let code = 0; code < 0x100; code++) {
    const isControl = code < 0x20 || (code >= 0x7f && code < 0xa0);
    const isAllowed = code === 0x0a || code === 0x09;
    assert.equal(FORBIDDEN_CONTROLS.test(String.fromCharCode(code)), isControl && !isAllowed, `U+${code}`);
  }
});

Deno.test("an incoming CRLF becomes LF, and a lone CR is kept so that it is refused [proto-body-crlf]", () => {
  assert.equal(normalizeBody("a\r\n\r\nb"), "a\n\nb");
  assert.equal(normalizeBody("a\rb"), "a\rb");
});
