/** How a message's text is prepared for typing: pieces, marks and the agents' trimming. */
import assert from "node:assert/strict";
import { agentProfile } from "../../../../src/agents/profiles.ts";
import type { TypingProfile } from "../../../../src/agents/profile.ts";
import fc from "fast-check";
import {
  isShellEscape,
  PIECE_MAX_BYTES,
  pieces,
  typedText,
  typingMethod,
  typingRequests,
} from "../../../../src/listener/inject/guard.ts";

const trims = { method: "paste", settleMs: 0, spaceAfter: "text" } as const;

Deno.test("typing: pieces are small, never split a character, and join to the text [inj-pieces]", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 6_000 }), (text) => {
      const list = pieces(text);
      assert.equal(list.join(""), text);
      for (const piece of list) {
        assert.ok(new TextEncoder().encode(piece).length <= PIECE_MAX_BYTES);
      }
    }),
    { numRuns: 50 },
  );
});

Deno.test("typing: a space after the text keeps Enter from accepting a suggestion, if the agent trims it [inj-trailing-space]", () => {
  const typed = (body: string, spaceAfter: TypingProfile["spaceAfter"]) =>
    typedText(body, { ...trims, spaceAfter });
  for (const body of ["path\\", "see @file.ts", "/x/y", "/t/"]) {
    assert.deepEqual([typed(body, "text"), typed(body, "tail"), typed(body, "none")], [
      ...[`${body} `, `${body} `, body],
    ]);
  }
  for (const body of ["wait for $EDITOR", "ends with :smile", "see @file.ts now", "/x/y is", "/model\nx"]) {
    assert.deepEqual([typed(body, "text"), typed(body, "tail")], [`${body} `, body]);
  }
  for (const body of ["/compact", "/model opus", "see @file.ts ", "two\n"]) {
    assert.equal(typed(body, "text"), body);
  }
});

Deno.test("typing: slash commands are typed as keys, paths and long texts are not [inj-slash]", () => {
  const method = (body: string): string => typingMethod(body, { typing: trims, shellBelow: false });
  assert.equal(method("/compact"), "plain");
  assert.equal(method("/model opus"), "plain");
  assert.equal(method("/x/y is a path"), "paste");
  assert.equal(method("/compact\nand more"), "paste");
  assert.equal(method("/compact x\t"), "paste", "a tab would be pressed");
});

Deno.test("typing: several lines over a shell are in paste marks, which keep the shell from running them [sec-no-shell]", () => {
  const typing = { ...trims, method: "plain" } as const;
  assert.equal(typingMethod("a\nb", { typing, shellBelow: true }), "marked");
  assert.equal(typingMethod("a", { typing, shellBelow: true }), "plain");
  assert.equal(typingMethod("a\nb", { typing, shellBelow: false }), "plain");
  const { fill } = typingRequests("%1", { text: "a\nb", method: "marked", guard: "G" });
  assert.equal(fill[0]?.[0]?.at(-1), "\u001b[200~a\nb\u001b[201~");
});

Deno.test("Gemini gets a text as a paste before it asks for pastes: it would take ? as a key", () => {
  const { typing } = agentProfile("gemini");
  assert.equal(typingMethod("who are you?", { typing, shellBelow: false }), "marked");
});

Deno.test("typing: a leading ! after blanks is a shell escape [inj-shell-escape]", () => {
  for (const body of ["!ls", "  !ls", "\n!ls", "\t !ls"]) assert.ok(isShellEscape(body), body);
  for (const body of ["\u200b!ls", "\ufeff\u2060 !ls"]) assert.ok(isShellEscape(body), JSON.stringify(body));
  for (const body of ["ls!", "a !ls", "¡ls"]) assert.ok(!isShellEscape(body), body);
});

Deno.test("typing: a text of any length is typed by one guarded request [inj-guard-atomic, inj-never-retype]", () => {
  for (const method of ["paste", "plain"] as const) {
    const { fill, type } = typingRequests("%1", { text: "x".repeat(16_384), method, guard: "G" });
    assert.equal(type.length, 1);
    assert.equal(type[0]?.[0], "if-shell");
    assert.ok(fill.every((request) => request.every((command) => command[0] === "set-buffer")));
  }
});

Deno.test("typing: a plain text is typed by send-keys -l [inj-4-type, inj-plain-pane]", () => {
  const { fill, type } = typingRequests("%1", { text: "hello;", method: "plain", guard: "G" });
  assert.equal(fill.length, 0);
  assert.ok(type[0]?.[5]?.includes('send-keys -l -t %1 -- "hello\\073"'), String(type[0]));
});
