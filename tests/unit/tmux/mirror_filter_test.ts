/** What is passed on to another terminal from a pane's raw output, and what is known of the current attributes. */
import assert from "node:assert/strict";
import { OutputFilter } from "../../../src/tmux/mirror_filter.ts";

const encoder = new TextEncoder();

/** Returns the text that passes when fed in pieces of `size` bytes. */
function pass(text: string | Uint8Array, { size = 1_000, filter = new OutputFilter() } = {}): string {
  const bytes = typeof text === "string" ? encoder.encode(text) : text;
  const parts: number[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    parts.push(...filter.pass(bytes.subarray(at, at + size)));
  }
  return new TextDecoder().decode(new Uint8Array(parts));
}

Deno.test("mirror filter: text, controls and sequences pass unchanged, however they are chunked", () => {
  const text =
    "a\r\n\t\u001b[1;38;5;3mb\u001b[0m漢字 👍\u001b(0lqk\u001b(B\u000eq\u000f\u001b7\u001b8\u001b[?1049h\u001bM";
  for (const size of [1, 2, 5, 1_000]) assert.equal(pass(text, { size }), text);
});

Deno.test("mirror filter: every character of up to three bytes is treated the same, whole or in pieces", () => {
  const codes = Array.from({ length: 0xffff - 0x7f }, (_, at) => at + 0x80);
  const text = codes.map((code) => String.fromCharCode(code)).filter((one) => one.isWellFormed()).join("");
  const whole = pass(text, { size: 9_999 });
  assert.equal(whole, pass(text, { size: 1 }));
  assert.ok(whole.includes("─"));
  for (const broken of [[0xe2, 0x94], [0xe2, 0x94, 0x41], [0xe0, 0x80, 0x80], [0xed, 0xa0, 0x80]]) {
    const bytes = new Uint8Array([0x61, ...broken, 0x62]);
    assert.equal(pass(bytes), pass(bytes, { size: 1 }), `${broken}`);
  }
});

Deno.test("mirror filter: sequences that tmux handles itself, or that terminals interpret differently, are dropped", () => {
  const cases: [string | Uint8Array, string][] = [
    ["\u001bkname\u001b\\x", "\u001b\\x"],
    ["\u001b]0;title\u0007x", "x"],
    ["\u001b]52;c;aGk=\u001b\\x", "\u001b\\x"],
    ["\u001bP1$r0m\u001b\\x", "x"],
    ["\u001b_app\u001b\\x", "\u001b\\x"],
    ["a\u009b31mb", "a31mb"],
    [new Uint8Array([0x61, 0xff, 0xc3, 0x62, 0x80, 0x63]), "abc"],
    ["\u001b[3\u0018m", "m"],
    [`\u001b[${"1;".repeat(600)}mx`, "x"],
  ];
  for (const [output, shown] of cases) assert.equal(pass(output), shown, JSON.stringify(output));
});

Deno.test("mirror filter: sequences that tmux ignores are dropped, because another terminal would act on them", () => {
  const ignored = [
    ..."aeI".split("").map((final) => `\u001b[3${final}`),
    ...["20h", "20l", "25h", ":1h", "?25:1l"].map((mode) => `\u001b[${mode}`),
    ...["(A", "(K", ")A", "*0", "+0", "-A", ".A", "n", "o", "N", "O", "|", "}", "~", "%G"].map((set) =>
      `\u001b${set}`
    ),
    ...["2:3D", "2;3:1H", "3:1r", ":1m", "2?D", "?J", "?2K"].map((text) => `\u001b[${text}`),
    ...["!p", "2 @", "2 A", "1 m", "2'}", '1"q', "2    D"].map((text) => `\u001b[${text}`),
    ...["2147483648D", "1;99999999999H", "31;2147483648m"].map((text) => `\u001b[${text}`),
    ...[`${"0".repeat(63)}5C`, `${"0".repeat(5_000)}5C`, `${"0;".repeat(23)}31m`, `${";".repeat(23)}m`].map((
      text,
    ) => `\u001b[${text}`),
    `\u001b${" ".repeat(200)}F`,
  ];
  for (const text of ignored) {
    const filter = new OutputFilter();
    pass("\u001b(B\u001b[0;31m", { filter });
    for (const size of [1, 1_000]) {
      assert.equal(pass(`a${text}b`, { filter, size }), "ab", JSON.stringify(text));
    }
    assert.equal(filter.penSequences(), "\u001b[0;31m\u001b(B", JSON.stringify(text));
  }
  const kept = [
    ...[
      "2147483647D",
      `${"0".repeat(62)}5C`,
      `${"0;".repeat(22)}31m`,
      "2;3H",
      "1;3:1D",
      "38:5:1m",
      "?25;7l",
      " q",
      ">4;1m",
    ],
    ...["4h", "4l", "?1049h", "5b", "s", "u"],
  ];
  for (const text of kept) assert.equal(pass(`\u001b[${text}`), `\u001b[${text}`);
  for (const mode of ["4;20h", "20;04h", "4;34h"]) assert.equal(pass(`\u001b[${mode}`), "\u001b[4h");
  for (const set of ["(0", "(B", ")0", ")B"]) assert.equal(pass(`\u001b${set}`), `\u001b${set}`);
});

Deno.test("mirror filter: once a DCS string has its final, only ESC \\ ends it", () => {
  const cases: [string, string][] = [
    ["A\u001bP$q m\u001b[31mB\u001b\\C", "AC"],
    ["A\u001bPabc\u0018DEF\u001aG\u0007H\u001b\\C", "AC"],
    ["A\u001bPtmux;\u001b\u001b[2J\u001b\u001b[HEVIL\u001b\\B", "AB"],
    ["A\u001bPabc\u001b\u001b\\B\u001b\\C", "AC"],
    ["A\u001bP?1;2$\u001b[31mB", "A\u001b[31mB"],
    ["A\u001bP1;2\u0018B", "AB"],
    ["A\u001bP1:1qxx\u001b[31mB", "A\u001b[31mB"],
    ["A\u001bP$1qxx\u0018B", "AB"],
    [`A\u001bP${"1;".repeat(40)}qxx\u001b[31mB\u001b\\C`, "AC"],
    ["A\u001b]0;ti\u001b[31mB\u001bkti\u0018C", "A\u001b[31mBC"],
  ];
  for (const [output, shown] of cases) {
    for (const size of [1, 1_000]) assert.equal(pass(output, { size }), shown, JSON.stringify(output));
  }
});

Deno.test("mirror filter: a DCS string that tmux has given up does not hide the output after it", () => {
  const filter = new OutputFilter();
  const resume = (pending: string): void => filter.resume(encoder.encode(pending), { isOdd: false });
  pass("\u001b(B\u001b[m", { filter });
  filter.takeDoubt();
  pass("\u001bPabc", { filter });
  assert.equal(filter.takeDoubt(), "unsure", "tmux is asked");
  resume("\u001bPabc");
  assert.equal(pass("def", { filter }), "", "still open");
  resume("\u001b[3");
  assert.equal(pass("1mred", { filter }), "\u001b[31mred");
});

Deno.test("mirror filter: after odd attributes all text is in doubt, until a reset", () => {
  const odd = [
    ...[
      "4:9",
      "4:",
      "1:2",
      "31:1",
      "38;5",
      "38;5;300",
      "38;5;",
      "38;2;1",
      "48;2;300;1;1",
      "38;3;1",
      "38;05;1",
    ],
    ...["38:5", "38:5:300", "38:2:1:2:3", "38;;5", "58;2;1;1", "1;38;5", "38;5;300;1"],
  ];
  const plain = ["", "1;31", "4:3", "38;5;255", "48:5:1", "38;2;1;2;255", "58:2::1:2:3", "58;5;3;1", "01"];
  for (const attributes of [...odd, ...plain]) {
    const filter = new OutputFilter();
    const doubtOf = (output: string): string => {
      pass(output, { filter });
      return filter.takeDoubt();
    };
    assert.equal(doubtOf("\u001b(B\u001b[m"), "none");
    doubtOf(`\u001b[${attributes}m`);
    const expected = odd.includes(attributes) ? "unsure" : "none";
    for (let time = 0; time < 2; time++) assert.equal(doubtOf("text"), expected, attributes);
    assert.equal(doubtOf("\u001b[mtext"), "none", attributes);
  }
});

Deno.test("mirror filter: counts are limited to the screen, however they are written, because another terminal would work for hours", () => {
  const filter = new OutputFilter();
  filter.countMax = 80;
  for (const final of "LMSTbZ") {
    assert.equal(pass(`\u001b[2147483647${final}x`, { filter }), `\u001b[80${final}x`);
    assert.equal(pass(`\u001b[0081;7${final}x`, { filter }), `\u001b[80;7${final}x`);
    assert.equal(pass(`\u001b[80${final}\u001b[${final}x`, { filter }), `\u001b[80${final}\u001b[${final}x`);
  }
  assert.equal(pass("\u001b[38;5;200m\u001b[2147483647C", { filter }), "\u001b[38;5;200m\u001b[2147483647C");
});

Deno.test("mirror filter: bytes that tmux ignores within a sequence do not hide the sequence", () => {
  const filter = new OutputFilter();
  filter.countMax = 80;
  for (const ignored of [0x7f, 0x80, 0xc3, 0xff]) {
    for (const [before, after] of [["\u001b[21474", "83647Sx"], ["\u001b", "[2147483647Sx"]] as const) {
      const output = new Uint8Array([...encoder.encode(before), ignored, ...encoder.encode(after)]);
      assert.equal(pass(output, { filter }), "\u001b[80Sx", `${ignored}`);
    }
  }
});

Deno.test("mirror filter: a sequence or character passes once it is complete", () => {
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

Deno.test("mirror filter: attributes are known after the first reset", () => {
  const filter = new OutputFilter();
  pass("\u001b[1mbold", { filter });
  assert.deepEqual([filter.takeDoubt(), filter.penSequences()], ["unsure", ""]);
  pass("\u001b[m\u001b[1;4:3;38;5;9;48:2::1:2:3m", { filter });
  assert.deepEqual([filter.takeDoubt(), filter.penSequences()], [
    "none",
    "\u001b[0;1;4:3;38;5;9;48:2::1:2:3m",
  ]);
  pass("\u001b[22;24;91mTEXT ●─é", { filter });
  assert.equal(filter.takeDoubt(), "none");
  assert.equal(filter.penSequences(), "\u001b[0;91;48:2::1:2:3m");
  filter.forget();
  assert.equal(filter.penSequences(), "");
  pass("\r\u001b[H", { filter });
  assert.equal(filter.takeDoubt(), "none", "nothing was drawn");
  for (const filling of ["\n", "\u001bM", "\u001b[J", "\u001b[2P", "\u001b[S"]) {
    pass(filling, { filter });
    assert.equal(filter.takeDoubt(), "unsure", `${JSON.stringify(filling)} fills with the background`);
  }
});

Deno.test("mirror filter: letters may be line drawing until a character set is chosen, or tmux's screen shows none", () => {
  const filter = new OutputFilter();
  const doubtOf = (output: string): string => {
    pass(output, { filter });
    return filter.takeDoubt();
  };
  filter.sawScreen({ drawsLines: false });
  assert.equal(doubtOf("\u001b[mUP 12"), "none", "the same in both sets");
  assert.equal(doubtOf("lqk"), "unsure");
  filter.sawScreen({ drawsLines: true });
  assert.equal(doubtOf("lqk"), "unsure", "they did");
  filter.sawScreen({ drawsLines: false });
  assert.equal(doubtOf("lqk"), "none", "they were letters");
  for (const choice of ["\u001b(0", "\u001b(B", "\u000f", "\u000e"]) {
    filter.forget();
    assert.equal(doubtOf(`\u001b[m${choice}lqk`), "none", JSON.stringify(choice));
  }
});

Deno.test("mirror filter: attributes and character sets are saved and restored with the cursor", () => {
  const filter = new OutputFilter();
  pass("\u001b[0;31m\u001b(0\u001b7\u001b[0;32m\u001b(B\u001b8", { filter });
  assert.equal(filter.penSequences(), "\u001b[0;31m\u001b(0");
});

Deno.test("mirror filter: output that other terminals may draw differently is in doubt, all else is not", () => {
  const plain = [
    "text ●─é ⏺ ❯",
    "\r\n\t\u0007\u000e\u000f\u001b(0\u001b(B\u001b7\u001bM\u001bD\u001bH",
    "\u001b[2J\u001b[H\u001b[3;4r\u001b[5S\u001b[2T\u001b[K\u001b[3X\u001b[2P\u001b[2@\u001b[4L\r\u001b[4M\u001b[1;1H",
    "\u001b[?25l\u001b[?1;1000h\u001b[?2004h\u001b[2 q\u001b[>4;1m\u001b[?u\u001b[6n\u001b[c",
  ];
  const doubtful = [
    "漢",
    "👍",
    "e\u0301",
    "❤\ufe0f",
    "\b",
    "\u001b8",
    "\u001b[u",
    "x\u001b[3b",
    "\u001b[?7l",
    "\u001b[4h",
    "\u001b[?6h",
    "\u001b[?1049h",
    "\u001b#8",
    "\u001b[3L",
  ];
  for (const output of [...plain, ...doubtful]) {
    const filter = new OutputFilter();
    pass("\u001b(B\u001b[m", { filter });
    pass(output, { filter });
    const expected = doubtful.includes(output) ? "unsure" : "none";
    assert.equal(filter.takeDoubt(), expected, JSON.stringify(output));
  }
});

Deno.test("mirror filter: after a reset another terminal must be reset too", () => {
  const filter = new OutputFilter();
  pass("\u001bc\u001b[31mx", { filter });
  assert.deepEqual([filter.takeDoubt(), filter.penSequences()], ["lost", "\u001b[0;31m"]);
});

Deno.test("mirror filter: text in an unusual mode is in doubt while the mode is set", () => {
  const filter = new OutputFilter();
  pass("\u001b(B\u001b[m\u001b[?7l", { filter });
  filter.takeDoubt();
  pass("text", { filter });
  assert.equal(filter.takeDoubt(), "unsure");
  pass("\u001b[?7htext", { filter });
  assert.equal(filter.takeDoubt(), "unsure", "the change itself");
  pass("text", { filter });
  assert.equal(filter.takeDoubt(), "none");
  pass("\u001b[?25;7l", { filter });
  filter.takeDoubt();
  pass("text", { filter });
  assert.equal(filter.takeDoubt(), "unsure", "set together with another mode");
  filter.forget();
  filter.resume(new Uint8Array(), { isOdd: true });
  pass("\u001b[mtext", { filter });
  assert.equal(filter.takeDoubt(), "unsure", "set before it was seen");
});

Deno.test("mirror filter: a joined character has no width in tmux", () => {
  assert.equal(pass("a👨\u200d👩\u200d👧b e\u0301", { size: 3 }), "a👨b e\u0301");
});

Deno.test("mirror filter: the rest of a character whose beginning was missed is dropped and in doubt", () => {
  const filter = new OutputFilter();
  assert.equal(pass(new Uint8Array([0xa2, 0x0d]), { filter }), "\r");
  assert.equal(filter.takeDoubt(), "unsure");
});

Deno.test("mirror filter: a sequence whose beginning tmux has read is completed after a gap", () => {
  const filter = new OutputFilter();
  filter.resume(encoder.encode("\u001b[3"), { isOdd: false });
  assert.equal(pass("1mred", { filter }), "\u001b[31mred");
});

Deno.test("mirror filter: without tmux's alternate screen nothing switches to one", () => {
  const filter = new OutputFilter();
  filter.keepsScreen = true;
  assert.equal(pass("\u001b[?1049hx\u001b[?25l", { filter }), "x\u001b[?25l");
});
