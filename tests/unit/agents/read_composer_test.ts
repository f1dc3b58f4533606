/** What a framed input line, its surroundings and the cursor tell: dialog, state and draft. */
import assert from "node:assert/strict";
import { composerAtPrompt, composerInRules } from "../../../src/agents/composer.ts";
import type { Screen } from "../../../src/agents/profile.ts";
import { type ComposerPatterns, readComposer } from "../../../src/agents/read_composer.ts";

const RULE = "─".repeat(30);
const PROMPT = { sign: /^([❯!])(?:\s|$)/u, width: 2 };
const PATTERNS: ComposerPatterns = {
  dialog: { lines: ["Enter to confirm"], titles: ["*Action*"] },
  find: (lines) => composerInRules(lines, PROMPT),
  placeholder: /^Ask anything/,
  working: { above: /^\* Thinking/, below: /esc to interrupt/, title: /^busy/ },
  cursor: "loose",
};
const NOWHERE = { x: 0, y: 0 };
const START = { x: 2, y: 3 };

interface Drawn {
  typed?: string[];
  above?: string;
  below?: string;
  title?: string;
  cursor?: { x: number; y: number; visible?: boolean };
}

function screenOf({ typed = ["❯"], above = "", below = "", title = "", cursor = NOWHERE }: Drawn): Screen {
  return {
    lines: ["an answer", above, RULE, ...typed, RULE, below],
    title,
    cursor: { visible: true, ...cursor },
  };
}

function read(drawn: Drawn, change: Partial<ComposerPatterns> = {}): ReturnType<typeof readComposer> {
  return readComposer(screenOf(drawn), { ...PATTERNS, ...change });
}

const IDLE = { state: "idle", focus: "composer", draft: "" } as const;
const WAITING = { state: "waiting", focus: "dialog", draft: undefined } as const;

Deno.test("a hint with the cursor at its start is no draft, whatever it says [inj-desk-draft]", () => {
  assert.deepEqual(read({ typed: ["❯ run the tests"], cursor: START }), IDLE);
  assert.deepEqual(read({ typed: ["❯ Ask anything about", "  this"], cursor: START }), IDLE);
});

Deno.test("the words of a hint are a draft where the cursor stands behind them [inj-desk-draft]", () => {
  const cursor = { x: 14, y: 3 };
  assert.equal(read({ typed: ["❯ Ask anything"], cursor }).draft, "Ask anything");
  assert.equal(read({ typed: ["❯ one", "  two"], cursor: START }).draft, "one\ntwo");
});

Deno.test("without a cursor only the known hints are no draft [inj-desk-draft]", () => {
  assert.equal(read({ typed: ["❯ Ask anything"] }).draft, "");
  assert.equal(read({ typed: ["❯ run the tests"] }).draft, "run the tests");
});

Deno.test("a shell's prompt is always a draft [inj-desk-draft]", () => {
  assert.equal(read({ typed: ["! a hint"], cursor: START }).draft, "!");
  assert.equal(read({ typed: ["! ls"], cursor: { x: 4, y: 3 } }).draft, "!ls");
});

Deno.test("a dialog's words above the input line, or in it, are mere text [inj-dialog]", () => {
  assert.deepEqual(read({ above: "  Enter to confirm" }), IDLE);
  const draft = read({ typed: ["❯ Enter to confirm"], cursor: { x: 18, y: 3 } });
  assert.deepEqual(draft, { ...IDLE, draft: "Enter to confirm" });
});

Deno.test("a dialog's words below the input line, or in the title, are a dialog [inj-dialog, inj-pessimistic]", () => {
  assert.deepEqual(read({ below: "Enter to confirm" }), WAITING);
  assert.deepEqual(read({ title: "Action Required", above: "* Thinking" }), WAITING);
});

Deno.test("where the cursor follows the keys, one that stands elsewhere means a dialog [inj-dialog]", () => {
  const elsewhere = { x: 9, y: 1 };
  assert.deepEqual(read({ cursor: elsewhere }, { cursor: "placed" }), WAITING);
  assert.deepEqual(read({ cursor: { ...START, visible: false } }, { cursor: "placed" }), IDLE);
  assert.deepEqual(read({ cursor: { ...START, visible: false } }, { cursor: "shown" }), WAITING);
  assert.deepEqual(read({ cursor: START }, { cursor: "shown" }), IDLE);
  assert.deepEqual(read({ cursor: elsewhere }, { cursor: "loose" }), IDLE);
  assert.deepEqual(read({}, { cursor: "placed" }), IDLE);
});

Deno.test("the chosen row of a list is told from a draft by the cursor [inj-dialog]", () => {
  const find = (lines: readonly string[]) => composerAtPrompt(lines, PROMPT);
  const lines = ["❯ 1. Yes", "  Enter to confirm", "", "  footer"];
  const at = (x: number, y: number) =>
    readComposer({ lines, title: "", cursor: { x, y, visible: true } }, { ...PATTERNS, find });
  assert.deepEqual(at(0, 0), WAITING);
  assert.deepEqual(at(18, 1), { ...IDLE, draft: "1. Yes\nEnter to confirm" });
});

function readLines(...lines: string[]): ReturnType<typeof readComposer> {
  return readComposer({ lines, title: "", cursor: { ...NOWHERE, visible: true } }, PATTERNS);
}

Deno.test("without an input line a chosen row and the names of keys are a dialog [inj-dialog]", () => {
  assert.deepEqual(readLines("Exit plan mode?", "", "  ❯ 1. Yes, and go on", "    2. No"), WAITING);
  assert.deepEqual(readLines("│ ● 2. Something new │"), WAITING);
  assert.deepEqual(readLines("Pick", "  ❯ Dark mode", "    Light mode"), WAITING);
  assert.deepEqual(readLines("Something new", "press ENTER or Esc"), WAITING);
});

Deno.test("without an input line other text tells nothing, and work is work [ls-state-order]", () => {
  const nothing = { state: undefined, focus: "unknown", draft: undefined };
  assert.deepEqual(readLines("", ""), nothing);
  assert.deepEqual(readLines("❯ said before", "1. a list", "2. centered"), nothing);
  assert.deepEqual(readLines("* Thinking (esc to stop)"), { ...nothing, state: "working" });
});

Deno.test("work shows above the input line, below it or in the title [ls-state-order]", () => {
  assert.equal(read({ above: "* Thinking hard" }).state, "working");
  assert.equal(read({ below: "esc to interrupt" }).state, "working");
  assert.equal(read({ title: "busy" }).state, "working");
  assert.equal(read({ above: "esc to interrupt", below: "* Thinking" }).state, "idle");
});
