/** The three frames in which agents draw their composer, in forms that the captures do not contain. */
import assert from "node:assert/strict";
import {
  composerAtBar,
  composerAtPrompt,
  composerInRules,
  composerUnderRule,
} from "../../../src/agents/composer.ts";

const RULE = "─".repeat(40);
const SIGN = { sign: /^([❯!])(?:\s|$)/u, width: 2 };
/** Blank rows that make the composer a small part of the screen. */
const ROOM = Array.from({ length: 12 }, () => "");

Deno.test("between rules: several rows, without prompt and indent [inj-draft]", () => {
  const lines = [...ROOM, RULE, "❯ one", "", "  three", RULE, "  footer"];
  assert.deepEqual(composerInRules(lines, SIGN), {
    top: 13,
    left: 2,
    bottom: 16,
    text: "one\n\nthree",
    shell: false,
    footer: ["  footer"],
  });
});

Deno.test("between rules: next to a side bar, under a rule with a name in it [inj-draft]", () => {
  const bar = "  Sessions  │";
  const lines = [...ROOM, `${bar}───── my task ──`, `${bar}! ls`, `${bar}${RULE}`, `${bar} footer`];
  assert.deepEqual(composerInRules(lines, SIGN), {
    top: 13,
    left: 15,
    bottom: 14,
    text: "ls",
    shell: true,
    footer: [" footer"],
  });
});

Deno.test("between rules: the box of a dialog is not a composer, because its first row has no prompt [inj-dialog]", () => {
  assert.equal(composerInRules([RULE, " ☐ Pick", "❯ 1. Alpha", RULE, "  2. Chat"], SIGN), undefined);
  assert.equal(composerInRules([RULE, RULE, "  footer"], SIGN), undefined);
  assert.equal(composerInRules(["❯ said before", "an answer"], SIGN), undefined);
  assert.equal(composerInRules([], SIGN), undefined);
});

Deno.test("between rules: a rule that is indented or followed by text is not a frame [inj-dialog]", () => {
  const printed = [` ${RULE}`, " ❯ typed", ` ${RULE}`, "  footer"];
  assert.equal(composerInRules(printed, SIGN), undefined);
  assert.notEqual(composerInRules(printed, { ...SIGN, margin: 1 }), undefined);
  assert.equal(composerInRules([RULE, "❯ typed", `${RULE} and`, "  footer"], SIGN), undefined);
  assert.equal(composerInRules([RULE, "❯ typed", "an answer", RULE, "  footer"], SIGN), undefined);
});

Deno.test("between rules: a rule within the text does not end it [inj-draft]", () => {
  const found = composerInRules([RULE, "❯ above", `  ${RULE}`, "  below", RULE, "  footer"], SIGN);
  assert.equal(found?.text, `above\n${RULE}\nbelow`);
});

Deno.test("between rules: a composer that takes up much of the screen may scroll [inj-draft]", () => {
  const lines = [RULE, "❯ one", "  two", RULE, "  footer"];
  assert.equal(composerInRules(lines, SIGN)?.cut, true);
  assert.equal(composerInRules([...ROOM, ...lines], SIGN)?.cut, undefined);
});

Deno.test("at a prompt: the last one counts, up to the blank row before the footer [inj-draft]", () => {
  const lines = ["❯ said", "", "❯ one", "", "  three", "", "  footer", "  more", ""];
  const found = composerAtPrompt(lines, SIGN);
  const footer = ["  footer", "  more"];
  assert.deepEqual(found, { top: 2, left: 2, bottom: 5, text: "one\n\nthree", shell: false, footer });
});

Deno.test("at a prompt: unindented text between the prompt and the footer is not a draft [inj-dialog]", () => {
  assert.equal(composerAtPrompt(["❯ said", "an answer", "", "  footer"], SIGN), undefined);
  assert.equal(composerAtPrompt(["an answer"], SIGN), undefined);
  assert.equal(composerAtPrompt([], SIGN), undefined);
});

Deno.test("at a prompt: a draft that scrolls is cut, and its mark is not part of the text [inj-draft]", () => {
  const found = composerAtPrompt(["❯ eight       ↑", "  nine", "", "  eleven"], SIGN);
  assert.deepEqual([found?.text, found?.cut, found?.footer], ["eight\nnine\n\neleven", true, []]);
  const full = composerAtPrompt(["❯ eight to the edge↑", "  nine"], SIGN);
  assert.deepEqual(
    [full?.text, full?.cut],
    ["eight to the edge\nnine", true],
    "the mark covers the last column",
  );
});

Deno.test("under a rule: between two blank rows, with the hint above and the footer below [inj-draft]", () => {
  const lines = ["❯ said", "", RULE, " a hint", "", "❯ one", "", "  three", "", " footer", "", ""];
  const found = composerUnderRule(lines, SIGN);
  assert.deepEqual(found, {
    top: 5,
    left: 2,
    bottom: 8,
    text: "one\n\nthree",
    shell: false,
    footer: [" footer"],
  });
});

Deno.test("under a rule: without the rule, the hint or the blank rows it is not a composer [inj-dialog]", () => {
  const rows = [RULE, " a hint", "", "❯ one", "", " footer"];
  assert.notEqual(composerUnderRule(rows, SIGN), undefined);
  for (const row of [0, 1, 2, 4]) {
    assert.equal(composerUnderRule(rows.toSpliced(row, 1), SIGN), undefined, String(rows[row]));
  }
  assert.equal(composerUnderRule([" text", ...rows.slice(1)], SIGN), undefined);
});

const END = `  ╹${"▀".repeat(21)}`;

Deno.test("at a bar: without the menu above and the side bar to the right [inj-draft]", () => {
  const lines = [
    ...ROOM,
    "  ┃ /help    Show help ┃",
    "  ┃",
    "  ┃  /he",
    "  ┃",
    "  ┃  Build · model         42 tokens",
    END,
    "   tab agents",
  ];
  const found = composerAtBar(lines);
  const footer = ["   tab agents"];
  assert.deepEqual(found, { top: 14, left: 5, bottom: 17, text: "/he", shell: false, footer });
});

Deno.test("at a bar: the row below the text names the shell mode [inj-draft]", () => {
  const isShell = (mode: string) => composerAtBar(["  ┃", "  ┃  ls", "  ┃", `  ┃  ${mode}`, END])?.shell;
  assert.equal(isShell("Shell"), true);
  assert.equal(isShell("Shell              42 tokens"), true);
  for (const agent of ["Shell-Expert · model", "Shell · model"]) assert.equal(isShell(agent), false, agent);
});

Deno.test("at a bar: text is cut at the side bar by its columns, and nowhere without one [inj-draft]", () => {
  const text = (row: string, side = ""): string | undefined =>
    composerAtBar([
      `                          ${side}`,
      "  ┃",
      `  ┃  ${row}`,
      "  ┃",
      "  ┃  Build · model",
      END,
    ])
      ?.text;
  const thai = "ช่วยดูที่ไฟล์นี้ว่าทำไ";
  const family = "👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦";
  for (const row of [thai, family, "🇩🇪🇫🇷🇮🇹🇪🇸", "请检查构建脚本", "a ┃"]) {
    assert.equal(text(row), row);
    assert.equal(text(row, "LSP"), row);
  }
  assert.equal(text("请检查构建脚本      LSP"), "请检查构建脚本");
  assert.equal(text(`${thai}     LSP`), thai);
  const korean = "가나다라".normalize("NFD");
  assert.equal(text(`${korean}           LSP`, "LSP"), korean);
});

Deno.test("at a bar: a bar without an end, and an end without a bar, are not a composer [inj-dialog]", () => {
  assert.equal(composerAtBar(["  ┃", "  ┃  Permission", "  ┃", "  ┃  Allow once", "  ┃"]), undefined);
  assert.equal(composerAtBar(["  ┃", "  Commands", END]), undefined);
});

Deno.test("at a bar: a composer with something drawn over it is not recognized [inj-dialog]", () => {
  const rows = ["  ┃", "  ┃  ls", "  ┃", "  ┃  Build · model", END];
  assert.notEqual(composerAtBar(rows), undefined);
  assert.equal(composerAtBar(["  ┃     Select", ...rows.slice(1)]), undefined);
  assert.equal(composerAtBar([...rows.slice(0, 4), `${END}    Free   ▀▀▀`]), undefined);
});
