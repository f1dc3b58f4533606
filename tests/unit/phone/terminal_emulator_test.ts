/** The terminal's cells as runs to draw, and as text to copy. */

import assert from "node:assert/strict";
import {
  indexed,
  linesWith,
  makeEmulator,
  plainText,
  type Run,
  runsOf,
} from "../../../src/phone/terminal_emulator.ts";

async function runs(output: string, cursor?: number): Promise<Run[]> {
  const terminal = makeEmulator({ cols: 12, rows: 2 });
  await new Promise<void>((resolve) => terminal.write(output, resolve));
  const { active } = terminal.buffer;
  const line = active.getLine(0);
  assert.ok(line);
  return runsOf(line, { columns: 12, cursor, cell: active.getNullCell() });
}

Deno.test("terminal runs: cells that look alike are one run, each in its colors", async () => {
  const found = await runs("ab\u001b[31;44mcd\u001b[0;38;5;208;48;2;1;2;3me\u001b[0;7mf");
  const seen = found.map(({ text, columns, style }) => [text, columns, style.foreground, style.background]);
  assert.deepEqual(seen, [
    ["ab", 2, undefined, undefined],
    ["cd", 2, indexed(1), indexed(4)],
    ["e", 1, "#ff8700", "#010203"],
    ["f", 1, "var(--terminal-ground)", "var(--terminal-text)"],
    ["      ", 6, undefined, undefined],
  ]);
});

Deno.test("terminal runs: attributes, the cursor, and characters of uneven width start new runs", async () => {
  const found = await runs("\u001b[1;3;4;9;31mx\u001b[0m──漢b", 5);
  const seen = found.map(({ text, columns, uneven, cursor }) => [text, columns, uneven, cursor]);
  assert.deepEqual(seen, [
    ["x", 1, false, false],
    ["──", 2, true, false],
    ["漢", 2, true, false],
    ["b", 1, false, true],
    ["      ", 6, false, false],
  ]);
  const { bold, italic, underline, strike, dim, foreground } = found[0]?.style ?? {};
  assert.deepEqual([bold, italic, underline, strike, dim], [true, true, true, true, false]);
  assert.equal(foreground, indexed(9), "bold is bright");
});

Deno.test("terminal runs: the palette has the usual 256 colors", () => {
  assert.deepEqual([16, 21, 196, 231, 232, 255].map(indexed), [
    "#000000",
    "#0000ff",
    "#ff0000",
    "#ffffff",
    "#080808",
    "#eeeeee",
  ]);
});

Deno.test("terminal text: it includes the scrollback, joins wrapped lines and trims trailing blanks [ux-mirror-touch]", async () => {
  const terminal = makeEmulator({ cols: 10, rows: 3 });
  const output = "first   \r\n0123456789abc\r\n\r\n漢字\u001b[31m red\r\n\r\n";
  await new Promise<void>((done) => terminal.write(output, done));
  assert.equal(plainText(terminal), "first\n0123456789abc\n\n漢字 red");
  terminal.dispose();
});

Deno.test("terminal text: a wide character that did not fit into the last column leaves no blank in a wrapped line [ux-mirror-touch]", async () => {
  const terminal = makeEmulator({ cols: 7, rows: 6 });
  const output = "漢字漢字漢\r\nabcdef \r\nabcdef gh\r\n";
  await new Promise<void>((done) => terminal.write(output, done));
  assert.equal(plainText(terminal), "漢字漢字漢\nabcdef\nabcdef gh");
  terminal.dispose();
});

Deno.test("terminal text: what wraps to the next row is found in the row where it begins, each row once [ux-reading]", async () => {
  const terminal = makeEmulator({ cols: 10, rows: 4 });
  const output = "one needle and a NEEDLE\r\nneed\r\nle needle needle\r\n漢字漢字漢字漢";
  await new Promise<void>((done) => terminal.write(output, done));
  assert.deepEqual(linesWith(terminal, "needle"), [0, 1, 4, 5]);
  assert.deepEqual(linesWith(terminal, "漢字漢字漢字漢"), [6]);
  assert.deepEqual(linesWith(terminal, "needle needle"), [4]);
  assert.deepEqual(["", "no", "dle and"].map((text) => linesWith(terminal, text)), [[], [], [0]]);
  terminal.dispose();
});
