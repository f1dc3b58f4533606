/** What an agent printed before it ended. */
import assert from "node:assert/strict";
import { parseLastWords, saveLastWords } from "../../../src/wrapper/last_words.ts";

Deno.test("tmux's line under a dead pane tells the exit code and is no word of the agent", () => {
  const saved = "one\n\ntwo\n\n\n\nPane is dead (status 3, Fri Nov 20 23:45:35 2026)\n";
  assert.deepEqual(parseLastWords(saved), { text: "one\n\ntwo", code: 3 });
});

Deno.test("an agent that a signal ended has no exit code", () => {
  const saved = "bye\nPane is dead (signal 9, Fri Nov 20 23:45:35 2026)";
  assert.deepEqual(parseLastWords(saved), { text: "bye", code: undefined });
});

Deno.test("nothing saved is nothing said", () => {
  assert.deepEqual(parseLastWords(""), { text: "", code: undefined });
  assert.deepEqual(parseLastWords("Pane is dead (status 0, x)\n"), { text: "", code: 0 });
});

Deno.test("a path with a format's character is taken as it stands", () => {
  const hook = saveLastWords("svc-p", "/home/a#b/{x}").flat().join(" ");
  assert.match(hook, /\/home\/a\\043\\043b\/\\173x\\175/);
});
