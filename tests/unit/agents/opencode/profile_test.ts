/** OpenCode draws its lists over the composer, which still shows around them. */
import assert from "node:assert/strict";
import type { ScreenReading } from "../../../../src/agents/profile.ts";
import { profile as opencode } from "../../../../src/agents/opencode/profile.ts";

/** The composer of a session with four rows of text. */
const COMPOSER = [
  "",
  "  ┃",
  "  ┃  row 0",
  "  ┃  row 1",
  "  ┃  row 2",
  "  ┃  end",
  "  ┃",
  "  ┃  Build · model",
  `  ╹${"▀".repeat(74)}`,
  "   /home/me/proj                              ctrl+p commands",
  "",
];

function read(change: Record<number, string>, cursor: { x: number; y: number }): ScreenReading {
  const rows = COMPOSER.map((line, row) => change[row] ?? line);
  const lines = [...Array.from({ length: 14 }, () => ""), ...rows];
  return opencode.readScreen({
    lines,
    title: "OpenCode",
    cursor: { x: cursor.x, y: cursor.y + 14, visible: true },
  });
}

Deno.test("a list whose search field is between the composer's rows is a dialog, never the composer [inj-dialog]", () => {
  const palette = {
    2: "  ┃  row 0         Commands                            esc",
    4: "  ┃  row 2         Search",
    5: "  ┃  end           Suggested",
  };
  assert.equal(read(palette, { x: 19, y: 4 }).focus, "dialog");
  const side = { ...palette, 2: `${palette[2]}                      LSP` };
  assert.equal(read(side, { x: 19, y: 4 }).focus, "dialog");
  const models = { ...palette, 2: palette[2].replace("Commands", "Select model") };
  assert.equal(read(models, { x: 19, y: 4 }).menu, "model");
  assert.equal(read({}, { x: 8, y: 5 }).draft, "row 0\nrow 1\nrow 2\nend");
});

Deno.test("a draft that names a key like a list's title stays a draft [inj-draft]", () => {
  for (const row of ["Quit   esc", "Keys: tab   esc   enter and", "left   right   esc"]) {
    assert.equal(read({ 2: "  ┃", 3: `  ┃  ${row}`, 4: "  ┃  x" }, { x: 8, y: 5 }).focus, "composer", row);
  }
});

Deno.test("the name of the folder below the composer is no key [ls-state-order]", () => {
  for (const name of ["~/Deep Space Nine", "/tmp/return to zork", "…/enter the gungeon"]) {
    const folder = { 9: `   ${name}:main                 ctrl+p commands` };
    assert.equal(read(folder, { x: 8, y: 5 }).focus, "composer", name);
  }
  for (
    const hint of [
      "~/proj   enter to choose",
      "~/proj · enter to choose",
      "/ to search enter to choose",
      "/help for help, enter to send",
    ]
  ) {
    assert.notEqual(read({ 9: `   ${hint}` }, { x: 8, y: 5 }).focus, "composer", hint);
  }
});
