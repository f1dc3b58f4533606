/** What an injection does with a text that the agent shows as a placeholder. */
import assert from "node:assert/strict";
import { FakePane } from "../../../helpers/fake_pane.ts";

const count = (pane: FakePane, event: string): number => pane.events.filter((one) => one === event).length;
const NOT_CONFIRMED = { state: "unknown", reason: "not_confirmed", pane: "%3" };

Deno.test("inject: a text that the agent folds after a draft is submitted with it [inj-send-anyway, inj-composer-shows]", async () => {
  const pane = new FakePane();
  pane.draw("see this:");
  pane.onText = () => pane.draw("see this: [Pasted text #1]");
  assert.equal((await pane.inject("one\ntwo", { sendAnyway: true })).state, "submitted");
  assert.equal(count(pane, "key Enter"), 1);
  const changed = new FakePane();
  changed.draw("see this:");
  changed.onText = () => changed.draw("/add-dir [Pasted text #1]");
  assert.equal((await changed.inject("one\ntwo", { sendAnyway: true })).state, "unknown");
  assert.equal(count(changed, "key Enter"), 0, "it is no longer the draft that was judged");
});

Deno.test("inject: a folded paste is removed only if it is the one that svc left [inj-take-back]", async () => {
  for (const [draft, isOurs] of [["[Pasted text #1]", true], ["[Pasted text #2]", false]] as const) {
    const pane = new FakePane();
    pane.onRecord = (step) => {
      if (step === "typed") pane.draw("[Pasted text #1]");
    };
    pane.onKey = (key) => {
      if (key === "Enter") pane.draw(undefined);
    };
    assert.deepEqual(await pane.inject("hello"), NOT_CONFIRMED);
    pane.draw(draft);
    pane.onKey = () => pane.draw("");
    const { state } = await pane.inject("second");
    assert.equal(state, isOurs ? "submitted" : "refused", draft);
    assert.equal(pane.events.includes("key C-u"), isOurs, draft);
  }
});

Deno.test("inject: a placeholder that a narrow pane wraps is submitted, unless something is before it [inj-composer-shows]", async () => {
  const pane = new FakePane();
  pane.onText = () => pane.draw("[Pasted text\n#1]");
  assert.equal((await pane.inject("one\ntwo")).state, "submitted");
  assert.equal(count(pane, "key Enter"), 1);
  const other = new FakePane();
  other.onText = () => other.draw("run [Pasted text\n#1]");
  assert.notEqual((await other.inject("one\ntwo")).state, "submitted");
  assert.equal(count(other, "key Enter"), 0, "the local user typed before it");
});
