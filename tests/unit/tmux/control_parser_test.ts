/** A control client's stream becomes blocks and notifications. */
import assert from "node:assert/strict";
import { ControlParser } from "../../../src/tmux/control_parser.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

Deno.test("control parser: blocks and notifications, whatever the chunks", () => {
  const text =
    "%begin 1 2 0\none\nzwei é\n%end 1 2 0\n%session-changed $0 a\n%begin 1 3 1\nbad\n%error 1 3 1\n%exit\n";
  const expected = [
    { kind: "block", ok: true, text: "one\nzwei é", asked: false },
    { kind: "notification", line: "%session-changed $0 a" },
    { kind: "block", ok: false, text: "bad", asked: true },
    { kind: "notification", line: "%exit" },
  ];
  for (const size of [1, 2, 7, 1_000]) {
    const parser = new ControlParser();
    const all = bytes(text);
    const items = [];
    for (let at = 0; at < all.length; at += size) items.push(...parser.feed(all.subarray(at, at + size)));
    assert.deepEqual(items, expected);
  }
});

Deno.test("control parser: a pane's line that looks like an end is content unless time and number match", () => {
  const parser = new ControlParser();
  const [block] = parser.feed(bytes("%begin 5 9 1\n%end 5 8 1\n%begin 1 1 1\n%end 5 9 1\n"));
  assert.deepEqual(block, { kind: "block", ok: true, text: "%end 5 8 1\n%begin 1 1 1", asked: true });
});
