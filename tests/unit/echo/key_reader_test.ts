/** The same bytes give the same keys, wherever the chunks are cut. */
import fc from "fast-check";
import assert from "node:assert/strict";
import { type Key, KeyReader } from "../../../src/echo/key_reader.ts";

const utf8 = new TextEncoder();

/** The keys of `bytes`, cut at `cuts`. Adjacent texts are joined, because a cut may split them. */
function keysOf(bytes: Uint8Array, cuts: readonly number[] = []): Key[] {
  const reader = new KeyReader();
  const borders = [0, ...cuts.filter((cut) => cut <= bytes.length).sort((a, b) => a - b), bytes.length];
  const keys = borders.slice(1).flatMap((end, index) => reader.push(bytes.slice(borders[index], end)));
  return [...keys, ...reader.flush()].reduce(joinText, []);
}

function joinText(keys: Key[], key: Key): Key[] {
  const last = keys.at(-1);
  if (last?.kind !== "text" || key.kind !== "text") return [...keys, key];
  return [...keys.slice(0, -1), { kind: "text", text: last.text + key.text }];
}

const pasted = (text: string): string => `\x1b[200~${text}\x1b[201~`;

Deno.test("keys: text, pastes and control keys are distinguished, wherever the chunks are cut [show-echo]", () => {
  const input = `héé 日本👨‍👩‍👧${pasted("a\nb\tc\r\nd\re")}x\r\x7f\x15\x03\x1b[A\x1bOB\x1b[1;5C\n`;
  const expected: Key[] = [
    { kind: "text", text: "héé 日本👨‍👩‍👧" },
    { kind: "paste", text: "a\nb\tc\nd\ne" },
    { kind: "text", text: "x" },
    { kind: "enter" },
    { kind: "backspace" },
    { kind: "clear" },
    { kind: "interrupt" },
    { kind: "up" },
    { kind: "down" },
    { kind: "text", text: "\n" },
  ];
  const bytes = utf8.encode(input);
  for (let cut = 0; cut <= bytes.length; cut++) assert.deepEqual(keysOf(bytes, [cut]), expected);
  assert.deepEqual(keysOf(bytes, Array.from(bytes.keys())), expected);
});

Deno.test("keys: a paste is everything between the marks, whatever it contains and wherever it is cut", () => {
  const body = fc.string({ unit: "binary", maxLength: 40 }).map((text) =>
    text.replaceAll("\x1b", "~").replaceAll("\r", "")
  );
  fc.assert(fc.property(body, fc.array(fc.nat(200), { maxLength: 6 }), (text, cuts) => {
    const wellFormed = new TextDecoder("utf-8", { ignoreBOM: true }).decode(utf8.encode(text));
    assert.deepEqual(keysOf(utf8.encode(pasted(text)), cuts), [{ kind: "paste", text: wellFormed }]);
  }));
});

Deno.test("keys: Escape is a key of its own if nothing follows", () => {
  const reader = new KeyReader();
  assert.deepEqual(reader.push(utf8.encode("\x1b")), []);
  assert.equal(reader.isWaiting, true);
  assert.deepEqual(reader.flush(), [{ kind: "escape" }]);
  assert.equal(reader.isWaiting, false);
});

Deno.test("keys: Escape before text gives both", () => {
  assert.deepEqual(keysOf(utf8.encode("\x1bhi")), [{ kind: "escape" }, { kind: "text", text: "hi" }]);
});

Deno.test("keys: an incomplete paste waits for its end mark, not for the timer", () => {
  const reader = new KeyReader();
  reader.push(utf8.encode("\x1b[200~half"));
  assert.equal(reader.isWaiting, false);
  assert.deepEqual(reader.flush(), []);
  assert.deepEqual(reader.push(utf8.encode(" done\x1b[201~")), [{ kind: "paste", text: "half done" }]);
});

Deno.test("keys: a byte order mark is part of the text", () => {
  assert.deepEqual(keysOf(utf8.encode("\ufeffx")), [{ kind: "text", text: "\ufeffx" }]);
});
