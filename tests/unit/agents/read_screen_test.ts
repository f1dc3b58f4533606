/** Reading by line patterns alone: the tail of the screen, marks, titles, and which of them wins. */
import assert from "node:assert/strict";
import type { DialogMarks, Screen } from "../../../src/agents/profile.ts";
import {
  hasTitleMark,
  readByPatterns,
  showsDialog,
  TAIL_LINES,
  tailOf,
} from "../../../src/agents/read_screen.ts";

const MARKS: DialogMarks = { lines: ["^Allow[?]$"], titles: ["*Action Required*"] };
const PATTERNS = {
  dialog: MARKS,
  working: [/^busy/],
  workingTitle: /^⠋/u,
  draft: (tail: readonly string[]) => tail.at(-1)?.startsWith("> ") ? tail.at(-1)?.slice(2) : undefined,
};

function screenOf(lines: string[], title = ""): Screen {
  return { lines, title, cursor: { x: 0, y: 0, visible: true } };
}

Deno.test("the tail leaves blank rows at the end out, and what stands far above [inj-dialog]", () => {
  const far = ["Allow?", ...Array.from({ length: TAIL_LINES }, (_, row) => `row ${row}`), "", " "];
  assert.deepEqual([tailOf(far).length, tailOf(far)[0]], [TAIL_LINES, "row 0"]);
  assert.deepEqual(tailOf(["", " "]), []);
  assert.equal(showsDialog(screenOf(far), MARKS), false);
  assert.equal(showsDialog(screenOf(["Allow?", ""]), MARKS), true);
});

Deno.test("titles are matched whole, and only the wildcards are special [inj-pessimistic]", () => {
  const has = (glob: string, title: string): boolean => hasTitleMark(title, { lines: [], titles: [glob] });
  assert.equal(has("*Action Required*", "[ ! ] Action Required | proj"), true);
  assert.equal(has("[ ? ] Ask", "[ ! ] Ask"), true);
  assert.equal(has("[ ? ] Ask", "[ ! ] Asks"), false);
  assert.equal(has("a.c", "abc"), false);
});

Deno.test("a dialog outweighs work, and work outweighs a draft [inj-pessimistic, ls-state-order]", () => {
  const read = (lines: string[], title = "") => readByPatterns(screenOf(lines, title), PATTERNS);
  assert.deepEqual(read(["busy", "Allow?", "> hi"]), { state: "waiting", focus: "dialog", draft: undefined });
  assert.equal(read(["> hi"], "Action Required").state, "waiting");
  assert.deepEqual(read(["busy", "> hi"]), { state: "working", focus: "composer", draft: "hi" });
  assert.equal(read(["> "], "⠋ proj").state, "working");
  assert.deepEqual(read(["> hi"]), { state: "idle", focus: "composer", draft: "hi" });
  assert.deepEqual(read(["nothing"]), { state: undefined, focus: "unknown", draft: undefined });
});
