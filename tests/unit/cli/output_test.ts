/** Output: text from other machines is made harmless; tables, durations, progress. */
import assert from "node:assert/strict";
import { columns, duration, jsonText, sanitize } from "../../../src/cli/output.ts";

const EVIL = "a\x1b]0;title\x07\x1b[2J\x9b31m\x7fz";

Deno.test("output: control characters in text from others do not reach the terminal; svc's colors, tabs and line breaks do", () => {
  assert.equal(sanitize(EVIL), "a\ufffd]0;title\ufffd\ufffd[2J\ufffd31m\ufffdz");
  assert.equal(sanitize("\x1b[31mred\x1b[0m\tä\n"), "\x1b[31mred\x1b[0m\tä\n");
  // Concealed text, and black text on black.
  assert.equal(sanitize("a\x1b[8mb\x1b[30m\x1b[40mc"), "a\ufffd[8mb\ufffd[30m\ufffd[40mc");
});

Deno.test("output: JSON keeps the value and contains no control character except line breaks", () => {
  const text = jsonText({ title: EVIL });
  assert.equal(sanitize(text), text);
  assert.deepEqual(JSON.parse(text), { title: EVIL });
});

Deno.test("output: a cell with a line break stays in one row", () => {
  assert.deepEqual(columns([["a\nb", "c"], ["d", "e\tf"]]), ["a\ufffdb  c", "d    e\ufffdf"]);
  assert.deepEqual(columns([["vm", "\x1b[31mred"]]), ["vm  \ufffd[31mred"], "a color would go on after it");
});

/** Direction marks, zero-width characters, a line separator, and a tag beyond the basic plane. */
const UNSEEN = "a\u202eb\u200bc\u2066d\ufeffe\u061cf\u2028g\u00adh\u{e0041}i";
const ESCAPED = "a\\u202eb\\u200bc\\u2066d\\ufeffe\\u061cf\\u2028g\\u00adh\\udb40\\udc41i";

Deno.test("output: invisible characters and those that reverse text are escaped; tables use their displayed width, and JSON keeps the value [flood-unseen]", () => {
  assert.equal(sanitize(UNSEEN), ESCAPED);
  assert.deepEqual(columns([[UNSEEN, "x"], ["y", "z"]]), [
    `${ESCAPED}  x`,
    `${"y".padEnd(ESCAPED.length)}  z`,
  ]);
  assert.deepEqual(JSON.parse(jsonText({ title: UNSEEN })), { title: UNSEEN });
  assert.equal(sanitize(jsonText({ title: UNSEEN })), jsonText({ title: UNSEEN }));
  assert.equal(sanitize("漢字 👩 é ❯ ü"), "漢字 👩 é ❯ ü");
});

Deno.test("output: a variation selector is escaped where it changes nothing that is seen, and kept after an emoji [flood-unseen]", () => {
  assert.equal(sanitize("svc-a\ufe0f"), "svc-a\\ufe0f");
  assert.equal(sanitize("svc-a\ufe00b\u{e0100}c\u{1bca0}"), "svc-a\\ufe00b\\udb40\\udd00c\\ud82f\\udca0");
  assert.equal(sanitize("❤\ufe0f 1\ufe0f\u20e3"), "❤\ufe0f 1\ufe0f\u20e3");
});

Deno.test("a duration is shown in the largest unit that fits", () => {
  const cases: [number, string][] = [
    ...[[0, "0 s"], [999, "0 s"], [59_999, "59 s"], [60_000, "1 min"]] as [number, string][],
    ...[[3_599_999, "59 min"], [7_200_000, "2 h"], [172_800_000, "2 d"], [-5_000, "0 s"]] as [
      number,
      string,
    ][],
  ];
  for (const [ms, words] of cases) assert.equal(duration(ms), words, String(ms));
});
