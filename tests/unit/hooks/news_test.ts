/** An agent's text as the body of a push. */
import assert from "node:assert/strict";
import { toBodyText } from "../../../src/hooks/news.ts";
import { BODY_MAX_BYTES } from "../../../src/protocol/limits.ts";
import { Body } from "../../../src/protocol/push.ts";

Deno.test("control characters are removed, line endings unified, surrounding whitespace trimmed", () => {
  assert.equal(toBodyText("  Done.\r\n\x1b[31mred\x1b[0m\x07\rnext\n"), "Done.\n[31mred[0m\nnext");
  assert.equal(toBodyText("half a \ud83d character"), "half a \ufffd character");
  assert.equal(toBodyText(" \x00\n"), undefined);
});

Deno.test("a long text keeps its end, in whole characters, within the limit", () => {
  const body = toBodyText(`${"é👍 ".repeat(5_000)}Which one?`);
  assert.match(body ?? "", /^….*Which one\?$/u);
  assert.ok(!body?.includes("\ufffd"));
  const bytes = new TextEncoder().encode(body).length;
  assert.ok(bytes <= BODY_MAX_BYTES && bytes > BODY_MAX_BYTES - 4);
});

Deno.test("any text of an agent becomes a valid body", () => {
  const texts = ["a", "\u0085x", "x\u007f\u0080y", "a\u2028", "é".repeat(20_000), "\udc00\ud800", "\t\tx"];
  for (const text of texts) {
    assert.ok(Body.safeParse(toBodyText(text)).success, JSON.stringify(text.slice(0, 9)));
  }
});
