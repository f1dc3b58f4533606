/** The diff that a dry run shows. */
import assert from "node:assert/strict";
import { lineDiff } from "../../../../src/hooks/setup/line_diff.ts";

const NUMBERS = Array.from({ length: 20 }, (_, at) => `line ${at}`);

Deno.test("what is new, gone and around it; nothing when nothing changed [set-dry-run]", () => {
  const text = NUMBERS.join("\n");
  assert.deepEqual(lineDiff(text, text), []);
  const changed = NUMBERS.with(5, "other").toSpliced(15, 0, "more").join("\n");
  assert.deepEqual(lineDiff(text, changed), [
    ...["  line 3", "  line 4", "- line 5", "+ other", "  line 6", "  line 7"],
    ...["  line 13", "  line 14", "+ more", "  line 15", "  line 16"],
  ]);
});

Deno.test("a new file is all new, a removed one all gone", () => {
  assert.deepEqual(lineDiff("", "a\nb\n"), ["+ a", "+ b"]);
  assert.deepEqual(lineDiff("a\nb\n", ""), ["- a", "- b"]);
});

Deno.test("texts too long to align are shown whole", () => {
  const [one, other] = ["a", "b"].map((letter) =>
    Array.from({ length: 3_000 }, (_, at) => `${letter}${at}`).join("\n")
  );
  assert.equal(lineDiff(one ?? "", other ?? "").length, 6_000);
});
