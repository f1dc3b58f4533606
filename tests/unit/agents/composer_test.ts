/** The three frames in which agents draw their input line, in the shapes that the captures do not have. */
import assert from "node:assert/strict";
import { composerAtBar, composerAtPrompt, composerInRules } from "../../../src/agents/composer.ts";

const RULE = "─".repeat(40);
const SIGN = { sign: /^([❯!])(?:\s|$)/u, width: 2 };

Deno.test("between rules: several rows, without prompt and indent [inj-desk-draft]", () => {
  const lines = ["said", RULE, "❯ one", "", "  three", RULE, "  footer"];
  assert.deepEqual(composerInRules(lines, SIGN), {
    top: 2,
    left: 2,
    bottom: 5,
    text: "one\n\nthree",
    shell: false,
  });
});

Deno.test("between rules: beside a side bar, under a rule with a name in it [inj-desk-draft]", () => {
  const bar = "  Sessions  │";
  const lines = [`${bar}───── my task ──`, `${bar}! ls`, `${bar}${RULE}`, `${bar} footer`];
  assert.deepEqual(composerInRules(lines, SIGN), { top: 1, left: 15, bottom: 2, text: "ls", shell: true });
});

Deno.test("between rules: a box of a dialog is none, for its first row has no prompt [inj-dialog]", () => {
  assert.equal(composerInRules([RULE, " ☐ Pick", "❯ 1. Alpha", RULE, "  2. Chat"], SIGN), undefined);
  assert.equal(composerInRules([RULE, RULE], SIGN), undefined);
  assert.equal(composerInRules(["❯ said before", "an answer"], SIGN), undefined);
  assert.equal(composerInRules([], SIGN), undefined);
});

Deno.test("between rules: a rule that stands in the text ends nothing [inj-desk-draft]", () => {
  const found = composerInRules([RULE, "❯ above", `  ${RULE}`, "  below", RULE], SIGN);
  assert.equal(found?.text, `above\n${RULE}\nbelow`);
});

Deno.test("at a prompt: the last one counts, up to the blank row before the footer [inj-desk-draft]", () => {
  const lines = ["❯ said", "", "❯ one", "", "  three", "", "  footer", "  more", ""];
  const found = composerAtPrompt(lines, SIGN);
  assert.deepEqual(found, { top: 2, left: 2, bottom: 4, text: "one\n\nthree", shell: false });
});

Deno.test("at a prompt: without a footer, and without a prompt [inj-desk-draft]", () => {
  assert.equal(composerAtPrompt(["", "❯ one", "  two"], SIGN)?.text, "one\ntwo");
  assert.equal(composerAtPrompt(["an answer"], SIGN), undefined);
});

const END = `  ╹${"▀".repeat(21)}`;

Deno.test("at a bar: without the menu above and the side bar to the right [inj-desk-draft]", () => {
  const lines = [
    "  ┃ /help    Show help ┃",
    "  ┃",
    "  ┃  /he",
    "  ┃",
    "  ┃  Build · model         42 tokens",
    END,
  ];
  assert.deepEqual(composerAtBar(lines), { top: 2, left: 5, bottom: 5, text: "/he", shell: false });
});

Deno.test("at a bar: the row below the text names the shell mode [inj-desk-draft]", () => {
  assert.equal(composerAtBar(["  ┃", "  ┃  ls", "  ┃", "  ┃  Shell", END])?.shell, true);
});

Deno.test("at a bar: a bar with no end, and an end with no bar, are none [inj-dialog]", () => {
  assert.equal(composerAtBar(["  ┃", "  ┃  Permission", "  ┃", "  ┃  Allow once", "  ┃"]), undefined);
  assert.equal(composerAtBar(["  ┃", "  Commands", END]), undefined);
});
