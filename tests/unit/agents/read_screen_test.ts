/** The focus, state and draft that a composer, its surroundings and the cursor show; and what all readers share. */
import assert from "node:assert/strict";
import { composerAtPrompt, composerInRules } from "../../../src/agents/composer.ts";
import type { DialogMarks, Screen, ScreenReading } from "../../../src/agents/profile.ts";
import { agentProfile } from "../../../src/agents/profiles.ts";
import {
  compiledMarks,
  type ComposerPatterns,
  composerReader,
  isOversized,
  MAX_SCREEN_COLUMNS,
  MAX_SCREEN_ROWS,
  showsEditor,
  TAIL_LINES,
  tailOf,
} from "../../../src/agents/read_screen.ts";

const RULE = "─".repeat(30);
const PROMPT = { sign: /^([❯!])(?:\s|$)/u, width: 2 };
const PATTERNS: ComposerPatterns = {
  dialog: { lines: ["Enter to confirm"], titles: ["*Action*"] },
  menus: [{ name: "list", keys: [], isShown: ({ lines }) => lines.includes("the list") }],
  find: (lines) => composerInRules(lines, PROMPT),
  hasFooter: (footer) => footer[0]?.startsWith("  ") ?? false,
  placeholder: /^Ask anything/,
  working: { above: /^\* Thinking/, below: /esc to interrupt/, title: /^busy/ },
  cursor: "placed",
  otherView: /^another view$/,
  panel: /^▔{5}/u,
};
const START = { x: 2, y: 3 };

interface Drawn {
  typed?: string[];
  above?: string;
  below?: string;
  title?: string;
  cursor?: { x: number; y: number; visible?: boolean };
}

function screenOf(
  { typed = ["❯"], above = "", below = "  footer", title = "", cursor = START }: Drawn,
): Screen {
  return {
    lines: ["an answer", above, RULE, ...typed, RULE, below],
    title,
    cursor: { visible: true, ...cursor },
  };
}

function read(drawn: Drawn, change: Partial<ComposerPatterns> = {}): ScreenReading {
  return composerReader({ ...PATTERNS, ...change })(screenOf(drawn));
}

const IDLE = { state: "idle", focus: "composer", draft: "" } as const;
const WAITING = { state: "waiting", focus: "dialog", draft: undefined } as const;
const UNKNOWN = { state: undefined, focus: "unknown", draft: undefined } as const;

Deno.test("a hint with the cursor at its start is not a draft, whatever it contains [inj-draft]", () => {
  assert.deepEqual(read({ typed: ["❯ run the tests"] }), IDLE);
  assert.deepEqual(read({ typed: ["❯ Ask anything about", "  this"] }), IDLE);
});

Deno.test("a command with the cursor at its start is a draft: Enter would run it [inj-draft]", () => {
  assert.equal(read({ typed: ["❯ /permissions"] }).draft, "/permissions");
  for (
    const text of ["  /permissions", "\u200b!ls", "[Pasted text #1 +12 lines]", "a [Paste #1 - 12 lines]"]
  ) {
    assert.equal(read({ typed: [`❯ ${text}`] }).draft?.trim(), text.trim(), JSON.stringify(text));
  }
});

Deno.test("the text of a hint is a draft if the cursor is after it [inj-draft]", () => {
  const cursor = { x: 14, y: 3 };
  assert.equal(read({ typed: ["❯ Ask anything"], cursor }).draft, "Ask anything");
  assert.equal(read({ typed: ["❯ one", "  two"] }).draft, "one\ntwo");
});

Deno.test("if the cursor may be elsewhere, only the known hints are not drafts [inj-draft]", () => {
  const left = { cursor: { x: 0, y: 5, visible: false } };
  const habit = { cursor: "left" } as const;
  assert.equal(read({ typed: ["❯ Ask anything"], ...left }, habit).draft, "");
  assert.equal(read({ typed: ["❯ run the tests"], ...left }, habit).draft, "run the tests");
});

Deno.test("a shell's prompt is always a draft [inj-draft]", () => {
  assert.equal(read({ typed: ["! a hint"] }).draft, "!");
  assert.equal(read({ typed: ["! ls"], cursor: { x: 4, y: 3 } }).draft, "!ls");
});

Deno.test("the text of a dialog above the composer or in it is only text [inj-dialog]", () => {
  assert.deepEqual(read({ above: "  Enter to confirm" }), IDLE);
  const draft = read({ typed: ["❯ Enter to confirm"], cursor: { x: 18, y: 3 } });
  assert.deepEqual(draft, { ...IDLE, draft: "Enter to confirm" });
});

Deno.test("a footer that names Enter, a panel, or a mark in the title is a dialog [inj-dialog, inj-pessimistic]", () => {
  assert.deepEqual(read({ below: "  Enter to confirm" }), WAITING);
  assert.deepEqual(read({ below: "  enter submit · esc back" }), WAITING);
  assert.deepEqual(read({ below: "", above: "▔▔▔▔▔▔▔" }), WAITING);
  assert.deepEqual(read({ title: "Action Required", above: "* Thinking" }), WAITING);
});

Deno.test("only a cursor as the agent shows it in its composer is accepted [inj-dialog]", () => {
  const hidden = { cursor: { ...START, visible: false } };
  const elsewhere = { cursor: { x: 9, y: 1 } };
  assert.deepEqual(read(elsewhere), WAITING);
  assert.deepEqual(read(hidden), IDLE);
  assert.deepEqual(read(hidden, { cursor: "shown" }), WAITING);
  assert.deepEqual(read({}, { cursor: "shown" }), IDLE);
  assert.deepEqual(read({}, { cursor: "hidden" }), WAITING);
  assert.deepEqual(read(hidden, { cursor: "hidden" }), IDLE);
  assert.deepEqual(read({ cursor: { x: 0, y: 5, visible: false } }, { cursor: "left" }), IDLE);
  assert.deepEqual(read({ cursor: { x: 0, y: 1, visible: false } }, { cursor: "left" }), WAITING);
  assert.deepEqual(read(elsewhere, { cursor: "unmeasured" }), IDLE);
});

Deno.test("a composer without its footer, or under another view's title, is unknown [inj-profile]", () => {
  assert.deepEqual(read({ below: "" }), UNKNOWN);
  assert.deepEqual(read({ below: "no footer" }), UNKNOWN);
  assert.deepEqual(read({ title: "another view" }), UNKNOWN);
});

Deno.test("a harmless screen is named, unless the composer takes the keys [inj-profile]", () => {
  const menu = { state: "waiting", focus: "menu", draft: undefined, menu: "list" };
  assert.deepEqual(readLines("the list", "", "  ❯ one"), menu);
  assert.deepEqual(read({ above: "the list" }), IDLE);
});

Deno.test("an editor is unknown, whatever the file contains [inj-profile]", () => {
  assert.deepEqual(readLines("Enter to confirm", "  ❯ 1. Yes", "~", '"a" 2L, 30B'), UNKNOWN);
});

Deno.test("a program with its keys in application mode is not an agent, whatever it shows [inj-profile]", () => {
  const screen = { ...screenOf({}), applicationKeys: true };
  assert.deepEqual(composerReader(PATTERNS)(screen), UNKNOWN);
  assert.deepEqual(composerReader(PATTERNS)({ ...screen, applicationKeys: false }), IDLE);
});

Deno.test("a screen beyond the cap is unknown [inj-profile]", () => {
  const lines = Array.from({ length: MAX_SCREEN_ROWS }, () => "");
  assert.deepEqual(readLines(...lines, ...screenOf({}).lines), UNKNOWN);
});

Deno.test("a draft that fills the screen is not a composer, but its end is read [inj-draft]", () => {
  const find = (lines: readonly string[]) => composerAtPrompt(lines, PROMPT);
  const lines = ["❯ eight          ↑", "  nine", "  ten", ""];
  const at = (y: number) =>
    composerReader({ ...PATTERNS, find })({ lines, title: "", cursor: { x: 5, y, visible: true } });
  assert.deepEqual(at(2), { ...UNKNOWN, draft: "eight\nnine\nten", cut: true });
});

Deno.test("the cursor in the name of a slash command is reported, but not after it or in other texts [inj-command-cursor]", () => {
  const at = (typed: string, x: number) =>
    read({ typed: [`❯ ${typed}`], cursor: { x: START.x + x, y: START.y } }).cursorInCommand;
  const name = "/models".length;
  assert.deepEqual([at("/models", 0), at("/models", 2), at("/models opus", name - 1)], [true, true, true]);
  assert.equal(at("/models", name), undefined);
  assert.equal(at("/models opus", name), undefined);
  assert.equal(at("/models opus", name + 3), undefined);
  assert.equal(at("  /models", name + 1), true, "some agents take it for a command too");
  assert.equal(at("about /models", 7), undefined);
  assert.deepEqual([at("//models now", 0), at("//models now", 1), at("//models now", name + 1)], [
    true,
    true,
    true,
  ]);
  assert.equal(at("//models now", name + 2), undefined);
  assert.deepEqual([at("/src/a.ts", 4), at("/src/a.ts", 9), at("/src/a.ts is", 9)], [true, undefined, true]);
});

function readLines(...lines: string[]): ScreenReading {
  return composerReader(PATTERNS)({ lines, title: "", cursor: { x: 0, y: 0, visible: true } });
}

Deno.test("without a composer, a chosen row or key names mean a dialog [inj-dialog]", () => {
  assert.deepEqual(readLines("Exit plan mode?", "", "  ❯ 1. Yes, and go on", "    2. No"), WAITING);
  assert.deepEqual(readLines("│ ● 2. Something new │"), WAITING);
  assert.deepEqual(readLines("Pick", "  ❯ Dark mode", "    Light mode"), WAITING);
  assert.deepEqual(readLines("Something new", "press ENTER or Esc"), WAITING);
});

Deno.test("without a composer, other text means nothing [ls-state-order]", () => {
  assert.deepEqual(readLines("", ""), UNKNOWN);
  assert.deepEqual(readLines("❯ said before", "1. a list", "2. centered"), UNKNOWN);
  assert.deepEqual(readLines("* Thinking (esc to stop)"), UNKNOWN);
});

Deno.test("work shows above the composer, below it or in the title [ls-state-order]", () => {
  assert.equal(read({ above: "* Thinking hard" }).state, "working");
  assert.equal(read({ below: "  esc to interrupt" }).state, "working");
  assert.equal(read({ title: "busy" }).state, "working");
  assert.equal(read({ above: "esc to interrupt", below: "  * Thinking" }).state, "idle");
});

const MARKS: DialogMarks = { lines: ["^Allow[?]$"], titles: ["*Action Required*"] };

function plainScreen(lines: string[], title = ""): Screen {
  return { lines, title, cursor: { x: 0, y: 0, visible: true } };
}

Deno.test("the tail leaves out blank rows at the end and rows far above [inj-dialog]", () => {
  const { onScreen } = compiledMarks(MARKS);
  const far = ["Allow?", ...Array.from({ length: TAIL_LINES }, (_, row) => `row ${row}`), "", " "];
  assert.deepEqual([tailOf(far).length, tailOf(far)[0]], [TAIL_LINES, "row 0"]);
  assert.deepEqual(tailOf(["", " "]), []);
  assert.equal(onScreen(plainScreen(far)), false);
  assert.equal(onScreen(plainScreen(["Allow?", ""])), true);
});

Deno.test("titles are matched whole, and only the wildcards are special [inj-pessimistic]", () => {
  const has = (glob: string, title: string): boolean =>
    compiledMarks({ lines: [], titles: [glob] }).inTitle(title);
  assert.equal(has("*Action Required*", "[ ! ] Action Required | proj"), true);
  assert.equal(has("[ ? ] Ask", "[ ! ] Ask"), true);
  assert.equal(has("[ ? ] Ask", "[ ! ] Asks"), false);
  assert.equal(has("a.c", "abc"), false);
});

Deno.test("a screen beyond the cap is oversized by its rows or by one of its lines [inj-profile]", () => {
  const rows = Array.from({ length: MAX_SCREEN_ROWS }, () => "x");
  assert.equal(isOversized(plainScreen(rows)), false);
  assert.equal(isOversized(plainScreen([...rows, ""])), true);
  assert.equal(isOversized(plainScreen(["x".repeat(MAX_SCREEN_COLUMNS)])), false);
  assert.equal(isOversized(plainScreen(["x".repeat(MAX_SCREEN_COLUMNS + 1)])), true);
  assert.equal(isOversized(plainScreen(["👨‍👩‍👧‍👦".repeat(MAX_SCREEN_COLUMNS / 6)])), false, "in columns");
  assert.equal(isOversized(plainScreen(["请".repeat(MAX_SCREEN_COLUMNS)])), false, "fewer units");
  assert.equal(
    isOversized(plainScreen([`x${"\u0301".repeat(4 * MAX_SCREEN_COLUMNS)}`])),
    true,
    "too long to count",
  );
});

for (
  const row of [
    '"~/notes.md" 12L, 345B',
    '<a1e-643f.md" [noeol] 1L, 5B           1,1           All',
    "-- INSERT --",
    "                                      3,9           Bot",
    "E73: Tag stack empty",
    ":",
    "(END)",
    "^X Exit      ^R Read File",
    "~",
  ]
) {
  Deno.test(`an editor or a pager is recognized by its last row "${row.trim()}" [inj-profile]`, () => {
    assert.equal(showsEditor(plainScreen(["Enter to confirm", row, ""])), true);
    assert.equal(showsEditor(plainScreen([row, "  the footer of an agent"])), false);
  });
}

Deno.test("a tip below OpenCode's composer may name Enter, and is not taken for a dialog's keys [inj-dialog]", () => {
  const home = (...below: string[]): Screen => ({
    lines: [
      "   ┃",
      '   ┃  Ask anything… "Fix broken tests"',
      "   ┃",
      "   ┃  Build · stand-in stand-in",
      `   ╹${"▀".repeat(70)}`,
      "                                                   tab agents  ctrl+p commands",
      ...below,
      "  /home/ana/proj  ⊙ 1 MCP /status                                      1.18.33",
      "",
    ],
    title: "OpenCode",
    cursor: { x: 6, y: 1, visible: true },
  });
  const { readScreen } = agentProfile("opencode");
  const suspend = "       ● Tip Press ctrl+z to suspend the terminal and return to your shell";
  assert.deepEqual(readScreen(home("", "", suspend, "")), IDLE);
  const lines = [
    "       ● Tip Press shift+enter to add newlines in",
    "         your prompt, or return to it",
  ];
  assert.deepEqual(readScreen(home("", ...lines, "")), IDLE);
  assert.deepEqual(readScreen(home("", suspend, "", "       enter to select")), WAITING);
  assert.deepEqual(readScreen(home("", "       enter to select", "", suspend, "")), WAITING);
});
