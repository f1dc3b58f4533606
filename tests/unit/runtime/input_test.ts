/** Bytes become lines, in whatever chunks they arrive; the terminal is raw only while a loop reads keys. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { type CutLine, type KeySource, rawInput, splitLines } from "../../../src/runtime/input.ts";

async function* pieces(bytes: Uint8Array, sizes: readonly number[]): AsyncIterable<Uint8Array> {
  for (let at = 0, next = 0; at < bytes.length; next++) {
    const size = sizes[next % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

Deno.test("lines are restored from any cut, even through a character", async () => {
  const line = fc.string({ unit: "grapheme" }).filter((text) => !text.includes("\n"));
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 });
  await fc.assert(fc.asyncProperty(fc.array(line), sizes, async (lines, cut) => {
    const text = lines.map((one) => `${one}\n`).join("");
    assert.deepEqual(await Array.fromAsync(splitLines(pieces(encode(text), cut))), lines);
  }));
});

Deno.test("a last line without a line break is dropped", async () => {
  assert.deepEqual(await Array.fromAsync(splitLines(pieces(encode("one\ntwo"), [3]))), ["one"]);
});

Deno.test("a line of maximum length passes, one byte more ends the lines", async () => {
  const cut = (text: string, sizes: number[]): Promise<string[]> =>
    Array.fromAsync(splitLines(pieces(encode(text), sizes), 4));
  for (const sizes of [[1], [5], [100]]) {
    assert.deepEqual(await cut("abcd\nok\n", sizes), ["abcd", "ok"]);
    assert.deepEqual(await cut("ok\nabcde\nlate\n", sizes), ["ok"]);
    assert.deepEqual(await cut("ok\nabcdefgh", sizes), ["ok"]);
  }
});

Deno.test("a line that is too long is passed over by its ends, and the next one is read", async () => {
  const long = `first${"x".repeat(9_000)}last`;
  for (const sizes of [[1], [700, 3], [20_000]]) {
    const cut: CutLine[] = [];
    const lines = splitLines(pieces(encode(`ok\n${long}\nnext\n`), sizes), 5_000, {
      onTooLong: (line) => void cut.push(line),
    });
    assert.deepEqual(await Array.fromAsync(lines), ["ok", "next"]);
    assert.deepEqual(cut, [{ head: long.slice(0, 1_024), tail: long.slice(-1_024) }]);
  }
});

Deno.test("an endless line is given up without reading further", async () => {
  let given = 0;
  async function* endless(): AsyncIterable<Uint8Array> {
    for (;;) {
      given++;
      yield new Uint8Array(10);
    }
  }
  assert.deepEqual(await Array.fromAsync(splitLines(endless(), 100)), []);
  assert.equal(given, 11);
});

function source(keys: string[]): KeySource & { log: string[] } {
  const log: string[] = [];
  return {
    log,
    setRaw: (on) => void log.push(on ? "raw" : "cooked"),
    read: () => Promise.resolve(keys.length > 0 ? new TextEncoder().encode(keys.shift()) : undefined),
    stop: () => void log.push("stopped"),
  };
}

Deno.test("leaving the loop restores the terminal and stops the source", async () => {
  const keys = source(["a", "b"]);
  for await (const _ of rawInput(() => keys)) break;
  assert.deepEqual(keys.log, ["raw", "cooked", "stopped"]);
});

Deno.test("the end of input restores the terminal, and nothing is read after it", async () => {
  const keys = source(["a"]);
  const iterator = rawInput(() => keys)[Symbol.asyncIterator]();
  assert.equal((await iterator.next()).done, false);
  assert.equal((await iterator.next()).done, true);
  assert.equal((await iterator.next()).done, true);
  assert.deepEqual(keys.log, ["raw", "raw", "cooked", "cooked"]);
});
