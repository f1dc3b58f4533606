/** Ctrl and Alt of the key row, and the clipboard. */

import assert from "node:assert/strict";
import {
  afterKey,
  isHeld,
  type Latches,
  NO_LATCHES,
  pressed,
  readPaste,
  withLatches,
} from "../../../src/phone/views/key_row.tsx";
import { KeyInput } from "../../../src/protocol/key_input.ts";

const CTRL: Latches = { ctrl: "next", alt: "off" };
const ALT: Latches = { ctrl: "off", alt: "locked" };
const text = (typed: string): KeyInput => ({ type: "text", text: typed });
const key = (name: string): KeyInput => ({ type: "key", key: name });

Deno.test("one tap holds a modifier for the next key, a second tap holds it until the third [ux-latches]", () => {
  const once = pressed(NO_LATCHES, "ctrl");
  assert.deepEqual([once, isHeld(once), afterKey(once)], [CTRL, true, NO_LATCHES]);
  const twice = pressed(once, "ctrl");
  assert.deepEqual([twice.ctrl, afterKey(twice)], ["locked", twice]);
  assert.deepEqual(pressed(twice, "ctrl"), NO_LATCHES);
  assert.deepEqual(afterKey({ ctrl: "next", alt: "locked" }), { ctrl: "off", alt: "locked" });
});

Deno.test("a held modifier and a key make a key of the protocol, or none [ux-latches]", () => {
  const cases: [KeyInput[], Latches, string | undefined][] = [
    [[text("c")], CTRL, "C-c"],
    [[text("R")], CTRL, "C-r"],
    [[key("C-c")], CTRL, "C-c"],
    [[text("b")], ALT, "M-b"],
    [[key("Enter")], ALT, "M-Enter"],
    [[key("BSpace")], ALT, "M-BSpace"],
    [[text("3")], CTRL, undefined],
    [[text("é")], CTRL, undefined],
    [[text("cd")], CTRL, undefined],
    [[key("Up")], CTRL, undefined],
    [[key("Up")], ALT, undefined],
    [[key("C-c")], ALT, undefined],
    [[text("c")], { ctrl: "next", alt: "next" }, undefined],
    [[key("BSpace"), text("c")], CTRL, undefined],
    [[{ type: "paste", text: "c" }], CTRL, undefined],
    [[], CTRL, undefined],
  ];
  for (const [inputs, latches, expected] of cases) {
    const input = withLatches(inputs, latches);
    assert.equal(input?.type === "key" ? input.key : undefined, expected, JSON.stringify(inputs));
    if (input !== undefined) assert.ok(KeyInput.safeParse(input).success);
  }
});

Deno.test("a paste types the clipboard's text and never presses a key, or says why not [ux-paste]", async () => {
  const from = (clipboard: string) => readPaste({ readText: () => Promise.resolve(clipboard) });
  assert.deepEqual(await from("one line"), { kind: "inputs", inputs: [text("one line")] });
  assert.deepEqual(await from("two\r\nlines\u0007"), {
    kind: "inputs",
    inputs: [{ type: "paste", text: "two\nlines" }],
  });
  for (const blank of ["", "\n", " \r\n"]) assert.deepEqual(await from(blank), { kind: "empty" });
  assert.deepEqual(await from("\u0007\u001b"), { kind: "empty" });
  assert.deepEqual(await from("x".repeat(16_385)), { kind: "too_long" });
  assert.deepEqual(await readPaste({ readText: () => Promise.reject(new Error("denied")) }), {
    kind: "unreadable",
  });
  assert.deepEqual(await readPaste(undefined), { kind: "unreadable" });
});
