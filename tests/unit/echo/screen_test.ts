/** What the echo agent writes to its terminal when it draws the whole screen. */
import assert from "node:assert/strict";
import { EchoScreen } from "../../../src/echo/screen.ts";

const FOOTER = { lines: ["❯ draft", "echo · idle"], cursorLine: 0 };

function linesRedrawn(size: { columns: number; rows: number }): string[] {
  let written = "";
  const screen = new EchoScreen({ write: (text) => void (written = text), size: () => size });
  screen.draw(["one", "two", "a line of twenty-two.."], FOOTER);
  screen.redraw(FOOTER);
  return written.replace("\x1b[H\x1b[J", "").split("\x1b")[0]?.split("\r\n") ?? [];
}

Deno.test("echo screen: a new size shows the last lines that fit, and the footer once", () => {
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
