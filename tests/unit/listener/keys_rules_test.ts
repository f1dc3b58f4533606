/** Which live input would run a shell command in the agent, and what each costs. */
import assert from "node:assert/strict";
import { KeyLimit, PASTE_COST } from "../../../src/listener/keys_limit.ts";
import { costOf, isLineBegun, runsShell, type TypedInput } from "../../../src/listener/keys_rules.ts";
import { decodeKeyInput, encodeKeyInput } from "../../../src/protocol/key_input.ts";
import { KEYS_PER_SECOND } from "../../../src/protocol/limits.ts";

const text = (text: string): TypedInput => ({ type: "text", text });
const key = (key: string): TypedInput => ({ type: "key", key });
const paste = (text: string): TypedInput => ({ type: "paste", text });

Deno.test("keys rules: ! neither begins an input line nor is submitted in one [inj-shell-escape]", () => {
  const cases: [TypedInput, string | undefined, boolean, boolean][] = [
    [text("!"), "", true, true],
    [text("  !ls"), "", false, true],
    [paste("!ls"), "", false, true],
    [text("!"), "Hello", true, false],
    [text("Hello!"), "", false, false],
    [text("!"), undefined, false, true],
    [text("!"), undefined, true, false],
    [key("Enter"), "!ls", true, true],
    [key("C-m"), "!ls", true, true],
    [paste("a\nb"), "!ls", true, true],
    [key("Enter"), "ls!", true, false],
    [key("Enter"), undefined, true, false],
    [key("Left"), "!ls", true, false],
  ];
  for (const [input, draft, lineBegun, expected] of cases) {
    assert.equal(runsShell(input, { draft, lineBegun }), expected, JSON.stringify([input, draft, lineBegun]));
  }
});

Deno.test("keys rules: a line is begun by text, and another one by what ends it", () => {
  assert.equal(isLineBegun(false, text("a")), true);
  assert.equal(isLineBegun(false, text("  ")), false);
  assert.equal(isLineBegun(true, key("Left")), true);
  for (const end of ["Enter", "Escape", "C-c", "C-u"]) assert.equal(isLineBegun(true, key(end)), false, end);
});

Deno.test("keys limit: a burst, then a steady pace; a paste counts for several", () => {
  const limit = new KeyLimit(0);
  assert.deepEqual([text("a漢👍"), key("Up"), paste("long")].map(costOf), [3, 1, PASTE_COST]);
  for (let at = 0; at < KEYS_PER_SECOND; at++) assert.equal(limit.take(1, 0), 0);
  assert.equal(limit.take(1, 0), 1_000 / KEYS_PER_SECOND);
  assert.equal(limit.take(1, 5), 0);
  assert.ok(limit.take(1, 5) > 0);
  assert.equal(limit.take(300, 1_000_000), 0, "more than fits goes into debt");
  assert.ok(limit.take(1, 1_000_400) > 0);
});

Deno.test("keys: only known keys, plain characters and bodies are inputs", () => {
  const good = [
    { type: "text", text: "a漢👨‍👩‍👧" },
    { type: "key", key: "BTab" },
    { type: "key", key: "C-c" },
    { type: "key", key: "M-Enter" },
    { type: "paste", text: "two\nlines\t" },
    { type: "fit", cols: 40, rows: 20 },
    { type: "unfit" },
  ] as const;
  for (const input of good) assert.deepEqual(decodeKeyInput(encodeKeyInput(input)), input);
  const bad: unknown[] = [
    { type: "text", text: "" },
    { type: "text", text: "a\r" },
    { type: "text", text: "\u001b[A" },
    { type: "text", text: "x".repeat(257) },
    { type: "text", text: "\ud800" },
    { type: "key", key: "C-[" },
    { type: "key", key: "-t" },
    { type: "key", key: "Any" },
    { type: "paste", text: "a\u0003" },
    { type: "paste", text: "x".repeat(16_385) },
    { type: "fit", cols: 2, rows: 2 },
    { type: "run", text: "ls" },
    "text",
  ];
  for (const input of bad) {
    assert.equal(
      decodeKeyInput(new TextEncoder().encode(JSON.stringify(input))),
      undefined,
      JSON.stringify(input),
    );
  }
  assert.equal(decodeKeyInput(new Uint8Array([0xff, 0x7b])), undefined);
});
