/** Which shortcut a key of a hardware keyboard triggers. */

import assert from "node:assert/strict";
import {
  type KeyPlace,
  readSingleKeys,
  type Shortcut,
  shortcutOf,
  writeSingleKeys,
} from "../../../src/phone/views/shortcut_help.tsx";
import type { KeyPress } from "../../../src/phone/terminal_input.ts";

const PLAIN: KeyPress = {
  key: "",
  ctrlKey: false,
  altKey: false,
  metaKey: false,
  shiftKey: false,
  isComposing: false,
};
const VIEW: KeyPlace = { isTyping: false, isLive: false, isDialog: false, singleKeys: true };
const FIELD: KeyPlace = { ...VIEW, isTyping: true };
const of = (press: Partial<KeyPress>, place = VIEW) => shortcutOf({ ...PLAIN, ...press }, place);

const PRESSES: readonly [Partial<KeyPress>, Shortcut][] = [
  [{ key: "/" }, "search"],
  [{ key: "/", shiftKey: true }, "search"],
  [{ key: "k", ctrlKey: true }, "search"],
  [{ key: "K", metaKey: true }, "search"],
  [{ key: "Escape" }, "back"],
  [{ key: "?", shiftKey: true }, "help"],
  [{ key: "i" }, "write"],
  [{ key: "t" }, "switch"],
];

Deno.test("shortcuts are found by key; other keys are left to the browser [ux-shortcuts]", () => {
  for (const [press, shortcut] of PRESSES) assert.equal(of(press), shortcut, JSON.stringify(press));
  const others: Partial<KeyPress>[] = [
    ...[{ key: "a" }, { key: "Enter" }, { key: "constructor" }, { key: "k" }],
    ...[{ key: "/", ctrlKey: true }, { key: "i", altKey: true }, { key: "k", ctrlKey: true, metaKey: true }],
    ...[{ key: "k", ctrlKey: true, shiftKey: true }, { key: "Escape", shiftKey: true }],
    { key: "?", isComposing: true },
  ];
  for (const press of others) assert.equal(of(press), undefined, JSON.stringify(press));
});

Deno.test("no shortcut takes a key from the live terminal or from a dialog [ux-shortcuts]", () => {
  for (const [press] of PRESSES) {
    assert.equal(of(press, { ...FIELD, isLive: true }), undefined, JSON.stringify(press));
    assert.equal(of(press, { ...VIEW, isDialog: true }), undefined, JSON.stringify(press));
  }
});

Deno.test("in a field characters are text, and Esc leaves it; single keys can be switched off [ux-shortcuts]", () => {
  const kept = PRESSES.map(([press]) => of(press, FIELD)).filter((shortcut) => shortcut !== undefined);
  assert.deepEqual(kept, ["search", "search", "leave"]);
  const withoutSingle = PRESSES.map(([press]) => of(press, { ...VIEW, singleKeys: false }));
  assert.deepEqual(withoutSingle.filter(Boolean), ["search", "search", "back"]);
  const values = new Map<string, string>();
  const store = {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
  };
  assert.equal(readSingleKeys(() => store), true);
  writeSingleKeys(false, () => store);
  assert.equal(readSingleKeys(() => store), false);
});

Deno.test("without storage, the choice of keys holds until the page is reloaded [ux-keyboard]", () => {
  const refuse = (): never => {
    throw new DOMException("The operation is insecure", "SecurityError");
  };
  for (const on of [false, true]) {
    writeSingleKeys(on, refuse);
    assert.equal(readSingleKeys(refuse), on);
  }
});
