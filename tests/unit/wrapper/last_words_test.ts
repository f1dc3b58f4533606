/** What an agent printed before it ended. */
import assert from "node:assert/strict";
import { readableWords, saveLastWords } from "../../../src/wrapper/last_words.ts";

Deno.test("plain lines, coloured ones included, are shown again", () => {
  assert.equal(readableWords("claude 9.9.9\r\n"), "claude 9.9.9");
  assert.equal(readableWords("\x1b[31mno key\x1b[0m\r\n\r\n"), "\x1b[31mno key\x1b[0m");
  assert.equal(readableWords(""), "");
});

Deno.test("output that draws a screen, or too much output, is not", () => {
  for (const work of ["\x1b[?1049hx", "\x1b[2J", "\x1b[H", "a\x1b[3A", "\x1b[10;5Hx", "x".repeat(70_000)]) {
    assert.equal(readableWords(work), "", JSON.stringify(work.slice(0, 20)));
  }
});

Deno.test("a path with special characters of a shell or a format is used as it is", () => {
  const [, , , command = ""] = saveLastWords("svc-p", "/home/it's #{x} 100%/$(y)");
  assert.match(
    command,
    /mv '\/home\/it'\\''s ##\{x\} 100%%\/\$\(y\)\.part' '\/home\/it'\\''s ##\{x\} 100%%\/\$\(y\)'$/,
  );
});
