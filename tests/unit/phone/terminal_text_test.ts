/** The terminal's output as reflowed text. */
import assert from "node:assert/strict";
import { flowing } from "../../../src/phone/views/terminal.tsx";

Deno.test("frames and rules do not use up a narrow screen's width, and the words are kept [ux-reading]", () => {
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

Deno.test("a line of any length is processed in one pass", () => {
  const [blanks, rule] = [" ".repeat(1_000_000), "─".repeat(1_000_000)];
  assert.equal(flowing(`a${blanks}b\n╭${rule}`), "a  b\n╭───");
});
