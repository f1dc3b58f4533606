/** What is printed shows what other machines say, and obeys none of it. */
import assert from "node:assert/strict";
import { columns, harmless, jsonText } from "../../../src/cli/output.ts";

const EVIL = "a\x1b]0;title\x07\x1b[2J\x9b31m\x7fz";

Deno.test("output: control characters of others do not reach the terminal, colours, tabs and line ends of our own do", () => {
  assert.equal(harmless(EVIL), "a\ufffd]0;title\ufffd\ufffd[2J\ufffd31m\ufffdz");
  assert.equal(harmless("\x1b[31mred\x1b[0m\tä\n"), "\x1b[31mred\x1b[0m\tä\n");
});

Deno.test("output: JSON keeps the value and holds no control character but line ends", () => {
  const text = jsonText({ title: EVIL });
  assert.equal(harmless(text), text);
  assert.deepEqual(JSON.parse(text), { title: EVIL });
});

Deno.test("output: a cell with a line end makes no second row", () => {
  assert.deepEqual(columns([["a\nb", "c"], ["d", "e\tf"]]), ["a\ufffdb  c", "d    e\ufffdf"]);
});

/** Marks of direction, characters without width, a line separator, and a tag beyond the basic plane. */
const UNSEEN = "a\u202eb\u200bc\u2066d\ufeffe\u061cf\u2028g\u00adh\u{e0041}i";
const ESCAPED = "a\\u202eb\\u200bc\\u2066d\\ufeffe\\u061cf\\u2028g\\u00adh\\udb40\\udc41i";

Deno.test("output: what is not seen or turns text around is escaped, in tables as wide as it is shown, and JSON keeps the value [flood-unseen]", () => {
  assert.equal(harmless(UNSEEN), ESCAPED);
  assert.deepEqual(columns([[UNSEEN, "x"], ["y", "z"]]), [
    `${ESCAPED}  x`,
    `${"y".padEnd(ESCAPED.length)}  z`,
  ]);
  assert.deepEqual(JSON.parse(jsonText({ title: UNSEEN })), { title: UNSEEN });
  assert.equal(harmless(jsonText({ title: UNSEEN })), jsonText({ title: UNSEEN }));
  assert.equal(harmless("漢字 👩 é ❯ ü"), "漢字 👩 é ❯ ü");
});
