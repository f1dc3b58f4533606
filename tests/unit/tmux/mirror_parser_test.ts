/** A control client's stream with output: the pane's bytes exactly, whatever the chunks. */
import assert from "node:assert/strict";
import { type MirrorItem, MirrorParser, unescapeOctal } from "../../../src/tmux/mirror_parser.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function parse(stream: Uint8Array, size: number): MirrorItem[] {
  const parser = new MirrorParser("%7");
  const items: MirrorItem[] = [];
  for (let at = 0; at < stream.length; at += size) {
    parser.feed(stream.subarray(at, at + size), (item) => items.push(item));
  }
  return items;
}

Deno.test("mirror parser: output, blocks and notifications in order, whatever the chunks", () => {
  const stream = bytes(
    "%output %7 a\\015\\012\\134é\n%begin 1 2 1\n%output %7 text\n%end 1 2 1\n%output %70 other\n%layout-change @0\n",
  );
  const expected: MirrorItem[] = [
    { kind: "output", bytes: bytes("a\r\n\\é") },
    { kind: "block", ok: true, text: "%output %7 text", asked: true },
    { kind: "other", length: "%output %70 other".length },
    { kind: "notification", line: "%layout-change @0" },
  ];
  for (const size of [1, 3, 16, 1_000]) assert.deepEqual(parse(stream, size), expected);
});

Deno.test("mirror parser: a character that two lines of output share is not touched", () => {
  const [first, second] = [[0xe6, 0xbc], [0xa2]];
  const line = (part: number[]): number[] => [...bytes("%output %7 "), ...part, 0x0a];
  const items = parse(new Uint8Array([...line(first ?? []), ...line(second ?? [])]), 1_000);
  const seen = items.flatMap((item) => item.kind === "output" ? [...item.bytes] : []);
  assert.deepEqual(seen, [0xe6, 0xbc, 0xa2]);
});

Deno.test("mirror parser: every byte comes back from tmux's octal", () => {
  const all = Array.from({ length: 256 }, (_, byte) => byte);
  const escaped = all.flatMap((byte) =>
    byte < 0x20 || byte === 0x5c ? [...bytes(`\\${byte.toString(8).padStart(3, "0")}`)] : [byte]
  );
  assert.deepEqual([...unescapeOctal(new Uint8Array(escaped))], all);
});
