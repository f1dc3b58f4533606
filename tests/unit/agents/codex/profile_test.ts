/** Codex's composer before its trust dialog, which it draws a moment later, and its line of work. */
import assert from "node:assert/strict";
import type { ScreenReading } from "../../../../src/agents/profile.ts";
import { profile as codex } from "../../../../src/agents/codex/profile.ts";

const ABOVE = ["", "  >_ OpenAI Codex (v0.169.0)", "     /home/me/proj", "", "", ""];
const COMPOSER = "› Ask Codex to do anything";

const FOOTER = "  model default · /home/me/proj";

function read(above: readonly string[], footer: readonly string[]): ScreenReading {
  const lines = [...above, COMPOSER, "", ...footer];
  const cursor = { x: 2, y: above.length, visible: true };
  return codex.readScreen({ lines, title: "host", cursor });
}

const focusOf = (...footer: string[]): string => read(ABOVE, footer).focus;

Deno.test("the composer is unknown while its footer shows only the key for the shortcuts [read-positive]", () => {
  assert.equal(focusOf("  ? for shortcuts"), "unknown");
  assert.equal(focusOf(FOOTER, "  ← for agents · ? for shortcuts"), "composer");
  assert.equal(focusOf(FOOTER), "composer");
});

Deno.test("an answer that explains the key for an interruption is no work [ls-state-order]", () => {
  const stateOf = (...answer: string[]) => read([...ABOVE, ...answer, ""], [FOOTER]).state;
  assert.equal(stateOf("• To stop me, press esc to interrupt."), "idle");
  assert.equal(stateOf("• Working (12s • esc to interrupt"), "working", "cut off by a narrow pane");
  assert.equal(stateOf("• Running (tests) (1h 2m 3s • esc to interrupt) · 1 in the background"), "working");
});
