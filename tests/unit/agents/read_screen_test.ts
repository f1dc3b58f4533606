/** What all readers share: the cap, the tail, marks in lines and titles, and the look of editors. */
import assert from "node:assert/strict";
import type { DialogMarks, Screen } from "../../../src/agents/profile.ts";
import {
  compiledMarks,
  isOversized,
  MAX_SCREEN_COLUMNS,
  MAX_SCREEN_ROWS,
  showsEditor,
  TAIL_LINES,
  tailOf,
} from "../../../src/agents/read_screen.ts";

const MARKS: DialogMarks = { lines: ["^Allow[?]$"], titles: ["*Action Required*"] };

function screenOf(lines: string[], title = ""): Screen {
  return { lines, title, cursor: { x: 0, y: 0, visible: true } };
}

Deno.test("the tail leaves blank rows at the end out, and what stands far above [inj-dialog]", () => {
  const { onScreen } = compiledMarks(MARKS);
  const far = ["Allow?", ...Array.from({ length: TAIL_LINES }, (_, row) => `row ${row}`), "", " "];
  assert.deepEqual([tailOf(far).length, tailOf(far)[0]], [TAIL_LINES, "row 0"]);
  assert.deepEqual(tailOf(["", " "]), []);
  assert.equal(onScreen(screenOf(far)), false);
  assert.equal(onScreen(screenOf(["Allow?", ""])), true);
});

Deno.test("titles are matched whole, and only the wildcards are special [inj-pessimistic]", () => {
  const has = (glob: string, title: string): boolean =>
    compiledMarks({ lines: [], titles: [glob] }).inTitle(title);
  assert.equal(has("*Action Required*", "[ ! ] Action Required | proj"), true);
  assert.equal(has("[ ? ] Ask", "[ ! ] Ask"), true);
  assert.equal(has("[ ? ] Ask", "[ ! ] Asks"), false);
  assert.equal(has("a.c", "abc"), false);
});

Deno.test("a screen beyond the cap is oversized by its rows or by one of its lines [inj-profile]", () => {
  const rows = Array.from({ length: MAX_SCREEN_ROWS }, () => "x");
  assert.equal(isOversized(screenOf(rows)), false);
  assert.equal(isOversized(screenOf([...rows, ""])), true);
  assert.equal(isOversized(screenOf(["x".repeat(MAX_SCREEN_COLUMNS)])), false);
  assert.equal(isOversized(screenOf(["x".repeat(MAX_SCREEN_COLUMNS + 1)])), true);
});

for (
  const row of [
    '"~/notes.md" 12L, 345B',
    '<a1e-643f.md" [noeol] 1L, 5B           1,1           All',
    "-- INSERT --",
    "                                      3,9           Bot",
    "E73: Tag stack empty",
    ":",
    "(END)",
    "^X Exit      ^R Read File",
    "~",
  ]
) {
  Deno.test(`an editor or a pager is known by its last row "${row.trim()}" [inj-profile]`, () => {
    assert.equal(showsEditor(screenOf(["Enter to confirm", row, ""])), true);
    assert.equal(showsEditor(screenOf([row, "  the footer of an agent"])), false);
  });
}
