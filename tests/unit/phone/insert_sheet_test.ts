/** The user's own texts: stored, found, and put into a draft. */

import assert from "node:assert/strict";
import {
  isFound,
  sentTexts,
  SNIPPET_NAME_MAX_CHARS,
  snippetName,
  SNIPPETS_MAX,
  withInserted,
  withSnippet,
} from "../../../src/phone/views/insert_sheet.tsx";
import { INITIAL_STATE, reduce } from "../../../src/phone/state.ts";
import { messageOf } from "./samples.ts";

Deno.test("a snippet is added first or replaced in its place, up to a hundred [ux-snippets]", () => {
  const of = (id: string, name = id) => ({ id, name, text: name });
  const two = withSnippet([of("a")], of("b"));
  assert.deepEqual(two.map(({ id }) => id), ["b", "a"]);
  assert.deepEqual(withSnippet(two, of("a", "new")).map(({ name }) => name), ["b", "new"]);
  let many = [of("first")];
  for (let index = 0; index < SNIPPETS_MAX; index++) many = withSnippet(many, of(String(index)));
  assert.equal(many.length, SNIPPETS_MAX);
});

Deno.test("a snippet without a name has its text's first line [ux-snippets]", () => {
  assert.equal(snippetName("  My name ", "text"), "My name");
  assert.equal(snippetName(" ", "\n  \nRun the tests.\nAll of them."), "Run the tests.");
  assert.equal(Array.from(snippetName("", "👍".repeat(99))).length, SNIPPET_NAME_MAX_CHARS);
});

Deno.test("every word of a search must be found, in any order and case [ux-snippets, ux-sent-before]", () => {
  assert.equal(isFound("", ["anything"]), true);
  assert.equal(isFound("TESTS run", ["Run all", "the tests"]), true);
  assert.equal(isFound("run lint", ["run the tests"]), false);
});

Deno.test("a text is inserted at the cursor, separated from the words around it [ux-snippets, ux-sent-before]", () => {
  assert.deepEqual(withInserted(" \n", { text: "new", start: 2, end: 2 }), { draft: "new", cursor: 3 });
  assert.deepEqual(withInserted("ab", { text: "x", start: 1, end: 1 }), { draft: "a x b", cursor: 3 });
  assert.deepEqual(withInserted("a b", { text: "x", start: 2, end: 3 }), { draft: "a x", cursor: 3 });
  assert.deepEqual(withInserted("a\n", { text: "x", start: 2, end: 2 }), { draft: "a\nx", cursor: 3 });
});

Deno.test("each sent text is listed once, newest first, without those that cannot be read here [ux-sent-before]", () => {
  const messages = [
    { ...messageOf(1), body: "again" },
    { ...messageOf(2), body: "once" },
    { ...messageOf(3), body: "again" },
    { ...messageOf(4), body: "", sealed: "elsewhere" as const },
    { ...messageOf(5), body: "", cancels: "x" },
    { ...messageOf(6), body: "answer", inReplyTo: "question" },
    { ...messageOf(7), session: "svc-other" },
  ];
  const state = messages.reduce(
    (before, message) => reduce(before, { type: "composed", message }),
    INITIAL_STATE,
  );
  const name = { deviceId: "dev_listener_1", session: "svc-demo" };
  assert.deepEqual(sentTexts(state, name), ["again", "once"]);
});
