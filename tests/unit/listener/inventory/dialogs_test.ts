/** The dialogs that agents show: one id for as long as one is open. */
import assert from "node:assert/strict";
import { Dialogs } from "../../../../src/listener/inventory/session_entry.ts";

Deno.test("dialogs: one that is redrawn or whose selection moves is the same; another text is another dialog [dlg-card]", () => {
  const dialogs = new Dialogs();
  assert.equal(dialogs.take("%1", { text: "Run it?\n❯ 1. Yes\n  2. No", at: 5 }), true);
  const first = dialogs.of("%1");
  assert.equal(dialogs.take("%1", { text: "Run it?\n  1. Yes\n❯ 2. No\n", at: 6 }), false);
  assert.deepEqual(dialogs.of("%1"), first);
  assert.equal(first?.since, 5);
  assert.equal(dialogs.take("%1", { text: "Delete it?\n❯ 1. Yes\n  2. No", at: 7 }), true);
  assert.notEqual(dialogs.of("%1")?.id, first?.id);
  dialogs.take("%1", { text: undefined, at: 8 });
  assert.equal(dialogs.of("%1"), undefined);
  assert.equal(dialogs.take("%1", { text: "Run it?\n❯ 1. Yes\n  2. No", at: 9 }), true, "asked once more");
  dialogs.keep(new Set());
  assert.equal(dialogs.of("%1"), undefined);
});

Deno.test("dialogs: a screen that may be half drawn ends none; the next one that does not show it does [dlg-card]", () => {
  const dialogs = new Dialogs();
  const shown = { text: "Run it?\n❯ 1. Yes\n  2. No", at: 0 };
  const notShown = { text: undefined, at: 0 };
  dialogs.take("%1", shown);
  const { id } = dialogs.of("%1") ?? {};
  for (let redrawn = 0; redrawn < 2; redrawn++) {
    dialogs.take("%1", { ...notShown, mayBeHalfDrawn: true });
    assert.equal(dialogs.of("%1")?.id, id);
    assert.equal(dialogs.take("%1", shown), false, "nobody is asked twice");
  }
  dialogs.take("%1", { ...notShown, mayBeHalfDrawn: true });
  dialogs.take("%1", { ...notShown, mayBeHalfDrawn: true });
  assert.equal(dialogs.of("%1"), undefined);
  dialogs.take("%1", shown);
  dialogs.take("%1", notShown);
  assert.equal(dialogs.of("%1"), undefined);
});
