/** How each session's terminal was last shown. */
import assert from "node:assert/strict";
import { readChoices, writeChoices } from "../../../src/phone/views/use_terminal.ts";

function memory(): () => Pick<Storage, "getItem" | "setItem"> {
  const kept = new Map<string, string>();
  return () => ({
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, text) => void kept.set(key, text),
  });
}

Deno.test("choices are kept for each session, the newest 50 of them [ux-reading]", () => {
  const store = memory();
  writeChoices("host/a", { font: 16 }, store);
  writeChoices("host/b", { asText: true }, store);
  writeChoices("host/a", { fit: true }, store);
  assert.deepEqual(readChoices("host/a", store), { font: 16, fit: true });
  assert.deepEqual(readChoices("host/b", store), { asText: true });
  writeChoices("host/a", { fit: false, font: undefined }, store);
  assert.deepEqual(readChoices("host/a", store), { fit: false });
  for (let index = 0; index < 50; index++) writeChoices(`host/${index}`, { font: 10 }, store);
  assert.deepEqual([readChoices("host/a", store), readChoices("host/0", store)], [{}, { font: 10 }]);
});

Deno.test("unreadable choices are ignored, and a full store is not an error [ux-reading]", () => {
  assert.deepEqual(readChoices("x", () => ({ getItem: () => "{", setItem: () => {} })), {});
  const full = {
    getItem: () => null,
    setItem: () => {
      throw new DOMException("full");
    },
  };
  writeChoices("x", { font: 9 }, () => full);
  const refused = (): never => {
    throw new DOMException("The operation is insecure", "SecurityError");
  };
  assert.deepEqual(readChoices("x", refused), {});
  writeChoices("x", { font: 9 }, refused);
});
