/** Key presses, composed text, pastes and pinches as terminal input. */
import assert from "node:assert/strict";
import {
  canSendWhileComposing,
  inputOfKey,
  inputsOfChange,
  inputsOfText,
  isUnsendable,
  type KeyPress,
  zoomed,
} from "../../../src/phone/terminal_input.ts";
import { KeyInput } from "../../../src/protocol/key_input.ts";

const PLAIN: KeyPress = {
  key: "a",
  ctrlKey: false,
  altKey: false,
  metaKey: false,
  shiftKey: false,
  isComposing: false,
};

function keyOf(changed: Partial<KeyPress>): string | undefined {
  const input = inputOfKey({ ...PLAIN, ...changed });
  if (input !== undefined) assert.ok(KeyInput.safeParse(input).success, JSON.stringify(input));
  return input?.type === "key" ? input.key : input?.type;
}

Deno.test("terminal input: keys become tmux key names", () => {
  const cases: [Partial<KeyPress>, string | undefined][] = [
    [{ key: "Escape" }, "Escape"],
    [{ key: "Enter" }, "Enter"],
    [{ key: "Enter", altKey: true }, "M-Enter"],
    [{ key: "Backspace", altKey: true }, "M-BSpace"],
    [{ key: "Tab" }, "Tab"],
    [{ key: "Tab", shiftKey: true }, "BTab"],
    [{ key: "Backspace" }, "BSpace"],
    [{ key: "ArrowUp" }, "Up"],
    [{ key: "PageDown" }, "NPage"],
    [{ key: "F12" }, "F12"],
    [{ key: "c", ctrlKey: true }, "C-c"],
    [{ key: "C", ctrlKey: true, shiftKey: true }, "C-c"],
    [{ key: "b", altKey: true }, "M-b"],
  ];
  for (const [pressed, key] of cases) assert.equal(keyOf(pressed), key, JSON.stringify(pressed));
});

Deno.test("terminal input: text, input method keys and browser shortcuts are left to the field", () => {
  for (
    const pressed of [
      { key: "a" },
      { key: "漢" },
      { key: "Enter", isComposing: true },
      // Safari reports the Enter that confirms a candidate like this.
      { key: "Enter", keyCode: 229 },
      { key: "Process" },
      { key: "Unidentified" },
      { key: "c", metaKey: true },
      { key: "ArrowLeft", ctrlKey: true },
      { key: "Shift" },
    ]
  ) assert.equal(keyOf(pressed), undefined, JSON.stringify(pressed));
});

Deno.test("terminal input: text is sent as text, several lines and long text as a paste", () => {
  assert.deepEqual(inputsOfText("a漢"), [{ type: "text", text: "a漢" }]);
  assert.deepEqual(inputsOfText("\n"), [{ type: "key", key: "Enter" }]);
  assert.deepEqual(inputsOfText("a\r\nb"), [{ type: "paste", text: "a\nb" }]);
  assert.deepEqual(inputsOfText("x".repeat(257)), [{ type: "paste", text: "x".repeat(257) }]);
  assert.deepEqual(inputsOfText("a\u001b[31m"), [{ type: "text", text: "a[31m" }]);
  assert.deepEqual(inputsOfText("\u0000"), []);
  for (const input of ["a", "a\tb", "\n", "👨‍👩‍👧"].flatMap(inputsOfText)) {
    assert.ok(KeyInput.safeParse(input).success);
  }
});

Deno.test("terminal input: two fingers twice as far apart double the font size", () => {
  assert.equal(zoomed({ distance: 100, fontPixels: 8 }, 200), 16);
  assert.equal(zoomed({ distance: 100, fontPixels: 8 }, 103), 8);
});

Deno.test("a correction during composition is typed as the difference [spec-live-typing]", () => {
  const back = { type: "key", key: "BSpace" };
  assert.deepEqual(inputsOfChange("", "te"), [{ type: "text", text: "te" }]);
  assert.deepEqual(inputsOfChange("teh", "the"), [back, back, { type: "text", text: "he" }]);
  assert.deepEqual(inputsOfChange("the", "th"), [back]);
  assert.deepEqual(inputsOfChange("nihao", "你好"), [...Array(5).fill(back), { type: "text", text: "你好" }]);
  assert.deepEqual(inputsOfChange("same", "same"), []);
});

Deno.test("during composition only a phone keyboard's plain letters are sent before the word is complete [spec-live-typing]", () => {
  assert.equal(canSendWhileComposing("hel", "Unidentified"), true);
  assert.equal(canSendWhileComposing("tiê", "Unidentified"), false);
  assert.equal(canSendWhileComposing("か", "Unidentified"), false);
  assert.equal(canSendWhileComposing("k", "Process"), false);
});

Deno.test("terminal input: only keys with Ctrl or Alt that no terminal key stands for are reported as unsendable", () => {
  const unsendable = (changed: Partial<KeyPress>): boolean => isUnsendable({ ...PLAIN, ...changed });
  const [ctrl, alt] = [{ ctrlKey: true }, { altKey: true }];
  for (const key of ["ArrowLeft", "Home", "Backspace", "Enter", "[", "_", " "]) {
    assert.ok(unsendable({ key, ...ctrl }), key);
  }
  assert.ok(unsendable({ key: "ArrowLeft", ...alt }));
  for (
    const changed of [
      { key: "a", ...ctrl },
      { key: "Backspace", ...alt },
      // Option with another character types one on a Mac, and AltGr reports both.
      { key: "@", ...alt },
      { key: "[", ...ctrl, ...alt },
      { key: "ArrowLeft" },
      { key: "ArrowLeft", metaKey: true },
      { key: "1", ...ctrl },
      { key: "Control", ...ctrl },
    ]
  ) assert.ok(!unsendable(changed), JSON.stringify(changed));
});
