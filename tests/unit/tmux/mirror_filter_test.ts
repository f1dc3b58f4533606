/** What another terminal is shown of a pane's raw output, and what is known of the attributes it goes on with. */
import assert from "node:assert/strict";
import { OutputFilter } from "../../../src/tmux/mirror_filter.ts";

const encoder = new TextEncoder();

/** The text that passes, fed in pieces of `size` bytes. */
function pass(text: string | Uint8Array, { size = 1_000, filter = new OutputFilter() } = {}): string {
  const bytes = typeof text === "string" ? encoder.encode(text) : text;
  const parts: number[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    parts.push(...filter.pass(bytes.subarray(at, at + size)));
  }
  return new TextDecoder().decode(new Uint8Array(parts));
}

Deno.test("mirror filter: text, controls and sequences pass as they are, whatever the chunks", () => {
  const text =
    "a\r\n\t\u001b[1;38;5;3mb\u001b[0m漢字 👍\u001b(0lqk\u001b(B\u000eq\u000f\u001b7\u001b8\u001b[?1049h\u001bM";
  for (const size of [1, 2, 5, 1_000]) assert.equal(pass(text, { size }), text);
});

Deno.test("mirror filter: what tmux itself acts on, and what terminals read differently, is dropped", () => {
  const cases: [string | Uint8Array, string][] = [
    ["\u001bkname\u001b\\x", "\u001b\\x"],
    ["\u001b]0;title\u0007x", "x"],
    ["\u001b]52;c;aGk=\u001b\\x", "\u001b\\x"],
    ["\u001bP1$r0m\u001b\\x", "\u001b\\x"],
    ["\u001b_app\u001b\\x", "\u001b\\x"],
    ["a\u009b31mb", "a31mb"],
    [new Uint8Array([0x61, 0xff, 0xc3, 0x62, 0x80, 0x63]), "abc"],
    ["\u001b[3\u0018m", "m"],
    [`\u001b[${"1;".repeat(600)}mx`, `${"1;".repeat(600)}mx`.slice(1_023)],
  ];
  for (const [output, shown] of cases) assert.equal(pass(output), shown, JSON.stringify(output));
});

Deno.test("mirror filter: a sequence or character is passed whole, once it is", () => {
  const filter = new OutputFilter();
  assert.equal(pass("a\u001b[3", { filter }), "a");
  assert.equal(pass("1mb", { filter }), "\u001b[31mb");
  const [one, ...rest] = encoder.encode("漢");
  assert.equal(pass(new Uint8Array([one ?? 0]), { filter }), "");
  assert.equal(pass(new Uint8Array(rest), { filter }), "漢");
  assert.equal(
    pass("\u001b[1\r\nmx", { filter }),
    "\r\n\u001b[1mx",
    "a control within a sequence acts at once",
  );
});

Deno.test("mirror filter: attributes are known from the first reset on", () => {
  const filter = new OutputFilter();
  pass("\u001b[1mbold", { filter });
  assert.deepEqual([filter.isUnsure, filter.penSequences()], [true, ""]);
  filter.isUnsure = false;
  pass("\u001b[m\u001b[1;4:3;38;5;9;48:2::1:2:3m", { filter });
  assert.deepEqual([filter.isUnsure, filter.penSequences()], [false, "\u001b[0;1;4:3;38;5;9;48:2::1:2:3m"]);
  pass("\u001b[22;24;91mtext 漢", { filter });
  assert.equal(filter.isUnsure, false);
  assert.equal(filter.penSequences(), "\u001b[0;91;48:2::1:2:3m");
  filter.forget();
  assert.equal(filter.penSequences(), "");
  pass("\r\n\u001b[H", { filter });
  assert.equal(filter.isUnsure, false, "nothing was drawn");
});

Deno.test("mirror filter: attributes and character sets are saved and restored with the cursor", () => {
  const filter = new OutputFilter();
  pass("\u001b[0;31m\u001b(0\u001b7\u001b[0;32m\u001b(B\u001b8", { filter });
  assert.equal(filter.penSequences(), "\u001b[0;31m\u001b(0");
  assert.equal(filter.isUnsure, false);
});

Deno.test("mirror filter: output that goes on from what was not seen is told", () => {
  const restored = new OutputFilter();
  pass("\u001b[0m\u001b8", { filter: restored });
  assert.deepEqual([restored.isUnsure, restored.penSequences()], [true, ""]);
  const cut = new OutputFilter();
  assert.equal(pass(new Uint8Array([0xa2, 0x61]), { filter: cut }), "a");
  assert.equal(cut.isUnsure, true);
});

Deno.test("mirror filter: a sequence that tmux has the beginning of is completed after a gap", () => {
  const filter = new OutputFilter();
  filter.resume(encoder.encode("\u001b[3"));
  assert.equal(pass("1mred", { filter }), "\u001b[31mred");
});

Deno.test("mirror filter: without tmux's alternate screen nothing switches to one", () => {
  const filter = new OutputFilter();
  filter.keepsScreen = true;
  assert.equal(pass("\u001b[?1049hx\u001b[?25l", { filter }), "x\u001b[?25l");
});
