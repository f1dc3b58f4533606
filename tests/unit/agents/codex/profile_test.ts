/** Codex before it knows whether a folder is trusted: it draws a composer, and its trust dialog a moment later. */
import assert from "node:assert/strict";
import { profile as codex } from "../../../../src/agents/codex/profile.ts";

const ABOVE = ["", "  >_ OpenAI Codex (v0.169.0)", "     /home/me/proj", "", "", ""];
const COMPOSER = "› Ask Codex to do anything";

function focusOf(...footer: string[]): string {
  const lines = [...ABOVE, COMPOSER, "", ...footer];
  const cursor = { x: 2, y: ABOVE.length, visible: true };
  return codex.readScreen({ lines, title: "host", cursor }).focus;
}

Deno.test("the composer is unknown while its footer shows only the key for the shortcuts [read-positive]", () => {
  assert.equal(focusOf("  ? for shortcuts"), "unknown");
  assert.equal(focusOf("  model default · /home/me/proj", "  ← for agents · ? for shortcuts"), "composer");
  assert.equal(focusOf("  model default · /home/me/proj"), "composer");
});
