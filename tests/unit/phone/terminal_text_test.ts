/** The terminal's output as flowing text. */
import assert from "node:assert/strict";
import { flowing } from "../../../src/phone/views/flowing_text.tsx";

Deno.test("frames and rules do not take a narrow screen's width, and the words stay [ux-reading]", () => {
  const screen = [
    "╭──────────────── Permission ────────────────╮",
    "│ Run   rm -r build?                         │",
    "│ ❯ 1. Yes                                   │",
    "╰────────────────────────────────────────────╯",
    "",
    "",
    "",
    "total 4 files  │  kept",
    "────────────────────────",
  ].join("\n");
  assert.equal(
    flowing(screen),
    ["─── Permission ───", "Run  rm -r build?", "❯ 1. Yes", "───", "", "total 4 files  │  kept", "───"].join(
      "\n",
    ),
  );
});
