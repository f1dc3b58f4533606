/** Reading and writing preferences: defaults for anything invalid, and browsers without storage. */
import assert from "node:assert/strict";
import { type Preferences, readPreferences, writePreferences } from "../../../src/phone/preferences.ts";

const DEFAULTS: Preferences = { theme: "system", textSize: 100, grouping: "state", removed: {} };

function storageWith(stored: string | null): () => Storage {
  const kept = new Map(stored === null ? [] : [["svc.preferences", stored]]);
  const storage: Pick<Storage, "getItem" | "setItem"> = {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
  };
  return () => storage as Storage;
}

Deno.test("preferences survive, and anything invalid reads as the defaults [ux-settings]", () => {
  const storage = storageWith(null);
  assert.deepEqual(readPreferences(storage), DEFAULTS);
  assert.equal(writePreferences({ ...DEFAULTS, theme: "dark", textSize: 150 }, storage), true);
  assert.deepEqual(readPreferences(storage), { ...DEFAULTS, theme: "dark", textSize: 150 });
  for (const stored of ["", "{", "[]", '{"theme":"pink"}', '{"textSize":1000}']) {
    assert.deepEqual(readPreferences(storageWith(stored)), DEFAULTS, stored);
  }
});

Deno.test("a browser without storage has the defaults and says that a choice is not kept [ux-settings]", () => {
  const storage = (): Storage => {
    throw new DOMException("denied", "SecurityError");
  };
  assert.deepEqual(readPreferences(storage), DEFAULTS);
  assert.equal(writePreferences(DEFAULTS, storage), false);
});
