/** Scroll positions: the last text and the cursor are visible, blank lines are not followed. */

import assert from "node:assert/strict";
import { followedLeft, followedTop } from "../../../src/phone/terminal_follow.ts";

const VIEW = { width: 300, height: 100, lineHeight: 10, columnWidth: 5 };
/** 24 lines after 100 lines of scrollback. */
const SCREEN = { first: 100, lines: 124, last: 123, cursor: undefined };

Deno.test("terminal view: a full screen is shown at its end, a mostly empty one at its start", () => {
  assert.equal(followedTop(SCREEN, VIEW), 1_140);
  assert.equal(followedTop({ ...SCREEN, last: 103, cursor: { line: 104, column: 2 } }, VIEW), 1_000);
  assert.equal(followedTop({ ...SCREEN, last: 103, cursor: { line: 115, column: 2 } }, VIEW), 1_060);
});

Deno.test("terminal view: a cursor far above the end stays visible; a hidden one is ignored", () => {
  assert.equal(followedTop({ ...SCREEN, cursor: { line: 105, column: 0 } }, VIEW), 1_030);
  assert.equal(followedTop({ ...SCREEN, cursor: { line: 100, column: 0 } }, VIEW), 1_000);
});

Deno.test("terminal view: a view higher than the screen shows the scrollback, one higher than everything shows all", () => {
  assert.equal(followedTop(SCREEN, { ...VIEW, height: 300 }), 940);
  assert.equal(followedTop({ ...SCREEN, first: 0, lines: 24, last: 3 }, { ...VIEW, height: 300 }), 0);
});

Deno.test("terminal view: it scrolls sideways only for a cursor outside the view", () => {
  assert.equal(followedLeft({ left: 50, column: 30 }, VIEW), 50);
  assert.equal(followedLeft({ left: 0, column: 80 }, VIEW), 125);
  assert.equal(followedLeft({ left: 200, column: 20 }, VIEW), 80);
  assert.equal(followedLeft({ left: 200, column: 1 }, VIEW), 0);
});
