/** The last line that an agent wrote: without frames, and without what is in its composer. */
import assert from "node:assert/strict";
import type { ScreenReading } from "../../../src/agents/profile.ts";
import { lastLine, LINE_MAX_CHARS } from "../../../src/agents/screen_texts.ts";

const lineOf = (
  lines: string[],
  { cursorRow = 0, ...reading }: Partial<ScreenReading> & { cursorRow?: number },
) =>
  lastLine(lines, {
    reading: { state: "idle", focus: "composer", draft: "", ...reading },
    cursorRow,
  });

Deno.test("the line above the composer is the last one, without its frame and bullet [det-lines]", () => {
  const screen = ["● All   tests pass.", "", "╭──────╮", "│ ❯ hi │", "╰──────╯", "  ? for shortcuts"];
  assert.equal(lineOf(screen, { cursorRow: 3, draft: "hi" }), "All tests pass.");
  const hints = ["✦ Written.", "~/shop  no sandbox", "Shift+Tab to accept edits", "❯ "];
  assert.equal(lineOf(hints, { cursorRow: 3 }), "✦ Written.");
  const long = ["● Done.", "❯ a first line", "  and a second", ""];
  assert.equal(lineOf(long, { cursorRow: 2, draft: "a first line\nand a second" }), "Done.");
});

Deno.test("without a composer the last line of the screen counts, cut to what fits; a blank screen has none [det-lines]", () => {
  assert.equal(lineOf(["$ make", "Password:", ""], { focus: "unknown", draft: undefined }), "Password:");
  assert.equal(lineOf(["x".repeat(900)], { focus: "unknown" })?.length, LINE_MAX_CHARS);
  assert.equal(lineOf(["", "────"], { focus: "unknown" }), undefined);
});

Deno.test("the line of a dialog is its request, not its last answer [det-lines]", () => {
  const dialog = ["Working.", 'Allow the command "rm -rf build"?', "❯ 1. Yes", "  2. No"];
  assert.equal(lineOf(dialog, { focus: "dialog", draft: undefined }), 'Allow the command "rm -rf build"?');
  assert.equal(
    lineOf(dialog, { focus: "unknown", draft: undefined }),
    "2. No",
    "it may be a list of the answer",
  );
});
