/** What the echo agent shows: within the terminal's width, without control characters, and readable by its profile. */

import fc from "fast-check";
import assert from "node:assert/strict";
import { profile as echo } from "../../../src/agents/echo/profile.ts";
import { EchoScreen, fit, footer, receiptLines, textWidth } from "../../../src/echo/screen.ts";
import { type EchoState, IDLE } from "../../../src/echo/state.ts";

const FOOTER = { lines: ["❯ draft", "echo · idle"], cursorLine: 0 };

function linesRedrawn(size: { columns: number; rows: number }): string[] {
  let written = "";
  const screen = new EchoScreen({ write: (text) => void (written = text), size: () => size });
  screen.draw(["one", "two", "a line of twenty-two.."], FOOTER);
  screen.redraw(FOOTER);
  return written.replace("\x1b[H\x1b[J", "").split("\x1b")[0]?.split("\r\n") ?? [];
}

Deno.test("echo screen: after a resize it shows the last lines that fit, and the footer once", () => {
  const footer = FOOTER.lines;
  assert.deepEqual(linesRedrawn({ columns: 80, rows: 24 }), [
    "one",
    "two",
    "a line of twenty-two..",
    ...footer,
  ]);
  assert.deepEqual(linesRedrawn({ columns: 11, rows: 5 }), ["two", "a line of twenty-two..", ...footer]);
  assert.deepEqual(linesRedrawn({ columns: 11, rows: 3 }), footer);
});

function read(state: EchoState): ReturnType<typeof echo.readScreen> {
  const { lines, cursorLine } = footer(state, 80);
  return echo.readScreen({ lines, title: "", cursor: { x: 0, y: cursorLine, visible: true } });
}

Deno.test("echo screen: its profile reads idle, working, draft and dialog from it [inj-profile]", () => {
  assert.deepEqual(read(IDLE), { state: "idle", focus: "composer", draft: "" });
  assert.deepEqual(read({ ...IDLE, draft: "half a" }), { state: "idle", focus: "composer", draft: "half a" });
  const busy = { ...IDLE, isWorking: true, queue: ["next"], draft: "x" };
  assert.deepEqual(read(busy), { state: "working", focus: "composer", draft: "x" });
  assert.deepEqual(read({ ...busy, dialog: { row: 1 } }), {
    state: "waiting",
    focus: "dialog",
    draft: undefined,
  });
});

Deno.test("echo screen: a draft of several lines is a folded paste, also when its first line is empty [inj-profile]", () => {
  for (const draft of ["first\nsecond", "\nsecond", " \n second"]) {
    assert.match(read({ ...IDLE, draft }).draft ?? "", echo.foldedPaste ?? /^$/, JSON.stringify(draft));
  }
  assert.doesNotMatch(read({ ...IDLE, draft: "one line" }).draft ?? "", echo.foldedPaste ?? /^/);
});

Deno.test("echo screen: a prompt with the dialog's text is not taken for a dialog", () => {
  const receipt = { bytes: 1, sha256: "0".repeat(64), fromPhone: false };
  const said = receiptLines({ ...receipt, prompt: "Enter to confirm · Esc to cancel\n❯ 1. Yes" });
  const lines = [...said, ...footer(IDLE, 80).lines];
  const cursor = { x: 2, y: lines.length - 2, visible: true };
  const reading = echo.readScreen({ lines, title: "", cursor });
  assert.deepEqual(reading, { state: "idle", focus: "composer", draft: "" });
});

Deno.test("echo screen: no control character of a prompt reaches the terminal, except LF and TAB", () => {
  const receipt = { bytes: 1, sha256: "0".repeat(64), fromPhone: true };
  const prompt = "a\x1b[2Jb\x07c\x9bd\x7f\te\nf";
  assert.deepEqual(receiptLines({ ...receipt, prompt }), [
    "│ a[2Jbcd\te",
    "│ f",
    "└ 1 bytes · sha256 000000000000 (from the phone)",
    "",
  ]);
  const [line] = footer({ ...IDLE, draft: prompt }, 80).lines;
  assert.equal(line, "❯ a[2Jbcd    e ⏎ … [2 lines]");
});

Deno.test("echo screen: no footer line is as wide as the terminal", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 4, max: 60 }), (draft, columns) => {
      const { lines } = footer({ ...IDLE, draft, queue: [draft], isWorking: true }, columns);
      for (const line of lines) assert.ok(textWidth(line) < columns, line);
    }),
  );
});

Deno.test("echo screen: wide characters count twice, combining marks not at all", () => {
  assert.equal(textWidth("日本"), 4);
  assert.equal(textWidth("e\u0301"), 1);
  assert.equal(fit("日本語", 5), "日本…");
  assert.equal(fit("abc", 3), "abc");
});
