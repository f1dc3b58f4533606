/** tmux's output for a pane is parsed into lines and facts, and these are turned into output that draws the same. */
import assert from "node:assert/strict";
import { makeEmulator } from "../../../src/phone/terminal_emulator.ts";
import { type PrintedPane, printedPane } from "../../helpers/printed_pane.ts";
import {
  paintAnew,
  paintOver,
  type PaneFacts,
  parseSnapshot,
  type Snapshot,
} from "../../../src/tmux/mirror_snapshot.ts";

function snapshotOf(cells: string, more: Omit<PrintedPane, "cells"> = {}): Snapshot {
  const snapshot = parseSnapshot("%3", printedPane({ cells, ...more }));
  assert.ok(snapshot);
  return snapshot;
}

async function draw(bytes: Uint8Array, terminal = makeEmulator({ cols: 10, rows: 4 })) {
  await new Promise<void>((resolve) => terminal.write(bytes, resolve));
  return terminal;
}

function lines({ buffer }: ReturnType<typeof makeEmulator>, from = buffer.active.baseY): string[] {
  return Array.from(
    { length: buffer.active.length - from },
    (_, y) => buffer.active.getLine(from + y)?.translateToString(true) ?? "",
  );
}

Deno.test("snapshot: lines, wrapped lines, facts and an unfinished sequence are parsed", () => {
  const snapshot = snapshotOf("one\n0123456789↩\nrest\n", {
    facts: { alternate: "1", savedX: "3", savedY: "2" },
  });
  assert.deepEqual(snapshot.screen.map(({ wraps }) => wraps), [false, true, false, false]);
  const { saved, title, tabs, cursor }: PaneFacts = snapshot.facts;
  assert.deepEqual([saved, title, tabs, cursor.visible], [{ x: 3, y: 2 }, "a\ttitle", [8], true]);
  assert.equal(parseSnapshot("%4", ["pane\t%3"]), undefined, "another pane, or none");
  assert.deepEqual([...snapshotOf("", { pending: "\\033[3" }).pending], [0x1b, 0x5b, 0x33]);
});

Deno.test("snapshot: blanks that nobody wrote, which tmux prints from 3.4 on, are left out unless they have a color", () => {
  const [red, noRed, line] = ["\u001b[41m", "\u001b[49m", "\u001b[38;5;41;4m"];
  const texts = printedPane({ facts: { cols: "9" } });
  texts[2] = ["ab   ", `x  ${red}  ${noRed}     `, `${red}c    `, `${noRed}漢漢漢漢 `, "字   ", `${line}d   `]
    .join("\n");
  texts[3] = ["ab", "x      ", "c", "漢漢漢漢字", "d"].join("\n");
  const snapshot = parseSnapshot("%3", texts);
  assert.deepEqual(snapshot?.screen.map(({ text }) => text), [
    "ab",
    `x  ${red}  ${noRed}  `,
    `${red}c    `,
    `${noRed}漢漢漢漢`,
    "字",
    `${line}d   `,
  ]);
  assert.deepEqual(snapshot?.screen.map(({ wraps }) => wraps), [false, false, false, true, false, false]);
});

Deno.test("snapshot: hyperlinks, which tmux prints from 3.4 on, are left out, and hide no wrapped line", async () => {
  const [link, end] = ["\u001b]8;id=1;http://e.x/a;b\u001b\\", "\u001b]8;;\u001b\\"];
  for (
    const cells of [
      `${link}0123456789\nabc${end}`,
      `${link}0123456789${end}\nabc`,
      `0123456789\n${link}a${end}bc`,
    ]
  ) {
    const texts = printedPane({ cells: `${cells}\n\u001b[31mplainplain\ntail` });
    texts[3] = "0123456789abc\nplainplaintail";
    const snapshot = parseSnapshot("%3", texts);
    assert.ok(snapshot);
    assert.deepEqual(snapshot.screen.map(({ wraps }) => wraps), [true, false, true, false], cells);
    assert.deepEqual(snapshot.screen.map(({ text }) => text), [
      "0123456789",
      "abc",
      "\u001b[31mplainplain",
      "tail",
    ]);
    const terminal = await draw(paintAnew(snapshot, { pen: "" }));
    assert.deepEqual(lines(terminal), ["0123456789", "abc", "plainplain", "tail"]);
    assert.deepEqual([1, 3].map((y) => terminal.buffer.active.getLine(y)?.isWrapped), [true, true]);
  }
});

Deno.test("snapshot: tmux's misspelled overline is not taken for blinking", () => {
  const [line] = snapshotOf("\u001b[5:3mover\n\n\n").screen;
  assert.equal(line?.text, "\u001b[53mover");
});

Deno.test("paint: attributes carry over lines, wrapped lines stay one line, the cursor keeps its place", async () => {
  const snapshot = snapshotOf("\u001b[31mred\nstill red\n\u001b[39mplain\nend");
  const terminal = await draw(paintAnew(snapshot, { pen: "" }));
  assert.deepEqual(lines(terminal), ["red", "still red", "plain", "end"]);
  assert.equal(terminal.buffer.active.getLine(1)?.getCell(0)?.getFgColor(), 1);
  assert.equal(terminal.buffer.active.getLine(2)?.getCell(0)?.isFgDefault(), true);
  assert.deepEqual([terminal.buffer.active.cursorX, terminal.buffer.active.cursorY], [2, 1]);
  for (const [line, isWrapped] of [["0123456789", true], ["erased", false], ["漢字漢字a", true]] as const) {
    const wrapped = await draw(paintAnew(snapshotOf(`${line}↩\n漢b\n\n`), { pen: "" }));
    assert.deepEqual(lines(wrapped), [line, "漢b", "", ""]);
    assert.equal(wrapped.buffer.active.getLine(1)?.isWrapped, isWrapped, line);
  }
});

Deno.test("paint: a cursor past the last column wraps with the next character", async () => {
  const snapshot = snapshotOf("0123456789\n\n\n", { facts: { cursorX: "10", cursorY: "0" } });
  const terminal = await draw(paintAnew(snapshot, { pen: "\u001b[0;1m" }));
  await draw(new TextEncoder().encode("x"), terminal);
  assert.deepEqual(lines(terminal), ["0123456789", "x", "", ""]);
  assert.notEqual(
    terminal.buffer.active.getLine(1)?.getCell(0)?.isBold(),
    0,
    "with the attributes the program set",
  );
});

Deno.test("paint: all lines above the screen are scrolled off it", async () => {
  for (const count of [1, 3, 9]) {
    const history = Array.from({ length: count }, (_, at) => `old ${at}`).join("\n");
    const snapshot = snapshotOf("a\nb\nc\nd", { facts: { history: String(count) }, history });
    const terminal = await draw(paintAnew(snapshot, { pen: "" }));
    assert.deepEqual(lines(terminal, 0), [...history.split("\n"), "a", "b", "c", "d"]);
  }
});

Deno.test("paint: the normal screen is there when the alternate one is left", async () => {
  const facts = {
    alternate: "1",
    savedX: "1",
    savedY: "2",
    cursorKeys: "1",
    keypad: "1",
    mouseAll: "1",
    mouseSgr: "1",
  };
  const snapshot = snapshotOf("full\nscreen\n\n", { facts, behind: "$ vi\n\n\n" });
  const terminal = await draw(paintAnew(snapshot, { pen: "" }));
  assert.equal(terminal.buffer.active.type, "alternate");
  const { applicationCursorKeysMode, applicationKeypadMode, mouseTrackingMode } = terminal.modes;
  assert.deepEqual([applicationCursorKeysMode, applicationKeypadMode, mouseTrackingMode], [
    true,
    true,
    "any",
  ]);
  await draw(new TextEncoder().encode("\u001b[?1049l"), terminal);
  assert.deepEqual(lines(terminal), ["$ vi", "", "", ""]);
  assert.deepEqual([terminal.buffer.active.cursorX, terminal.buffer.active.cursorY], [1, 2]);
});

Deno.test("paint: region, origin, insert, wrap and tab stops are set", async () => {
  const facts = {
    regionTop: "1",
    regionBottom: "2",
    origin: "1",
    insert: "1",
    wrap: "0",
    tabs: "4,8",
    cursorY: "2",
  };
  const terminal = await draw(paintAnew(snapshotOf("a\nb\nc\nd", { facts }), { pen: "" }));
  const { originMode, insertMode, wraparoundMode } = terminal.modes;
  assert.deepEqual([originMode, insertMode, wraparoundMode], [true, true, false]);
  assert.deepEqual([terminal.buffer.active.cursorX, terminal.buffer.active.cursorY], [2, 2]);
  await draw(new TextEncoder().encode("\tX\n"), terminal);
  assert.deepEqual(lines(terminal), ["a", "c   X", "", "d"], "only the region scrolls");
});

Deno.test("repaint: wrong output is corrected, the scrollback stays", async () => {
  const terminal = await draw(
    new TextEncoder().encode("above\r\n\r\n\r\n\r\n\u001b[7mwrong\u001b[2;3r\u001b[4h"),
  );
  await draw(paintOver(snapshotOf("right\n\n\n"), { pen: "" }), terminal);
  assert.deepEqual(lines(terminal, 0), ["above", "right", "", "", ""]);
  assert.equal(terminal.buffer.active.getLine(1)?.getCell(0)?.isInverse(), 0);
  assert.equal(terminal.modes.insertMode, false);
});
