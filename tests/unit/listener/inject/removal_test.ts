/** Svc's text in a composer while the agent hangs, resumes or shows half a frame, and while the local user types. */
import assert from "node:assert/strict";
import { paneContext } from "../../../../src/listener/inject/context.ts";
import { LOCAL_USER_HOLD_MS } from "../../../../src/listener/inject/pane_check.ts";
import {
  REMOVE_AGAIN_MS,
  REMOVE_STEP_MS,
  REMOVE_STUCK_KEYS,
  removeEarlier,
} from "../../../../src/listener/inject/remove_text.ts";
import { FakePane } from "../../../helpers/fake_pane.ts";

const LEFT = "delete the branch";
const removals = ({ events }: FakePane): string[] =>
  events.filter((event) => /^key (?:C-u|BSpace)$/.test(event));
const seconds = (pane: FakePane): number => Math.floor(pane.clock.now() / 1_000);

/** Makes a pane whose composer shows a text that svc typed; the agent hangs and reads no key. */
function makeHanging(text = LEFT, { before = "" } = {}): FakePane {
  const pane = new FakePane();
  pane.draw(before + text);
  pane.input.leftBehind = { before, text };
  pane.onKey = () => {};
  return pane;
}

/** Makes the agent read its keys from now on. */
function wake(pane: FakePane, draft: string): void {
  pane.draw(draft);
  pane.onKey = (key) => {
    if (key === "BSpace") pane.draw(pane.reading.draft?.slice(0, -1));
    if (key === "Enter") pane.draw("");
  };
}

Deno.test("removal: no message is typed after a text of svc's that a hanging agent still shows, even with sendAnyway; once the agent resumes, the rest is removed [inj-take-back, inj-send-anyway]", async () => {
  for (const sendAnyway of [false, true]) {
    const pane = makeHanging();
    const wakesAt = pane.clock.elapsed() + (REMOVE_STUCK_KEYS + 2) * REMOVE_STEP_MS;
    let isAwake = false;
    pane.onPause = () => {
      if (isAwake || pane.clock.elapsed() < wakesAt) return;
      assert.deepEqual(removals(pane).length, REMOVE_STUCK_KEYS);
      isAwake = true;
      wake(pane, "delete the bra");
    };
    assert.equal((await pane.inject("how is it going?", { sendAnyway })).state, "submitted");
    const { events } = pane;
    assert.equal(events.find((event) => event.startsWith("reported")), "reported held screen_stale");
    assert.equal(removals(pane).length, REMOVE_STUCK_KEYS + 2 * "delete the bra".length);
    assert.ok(events.lastIndexOf("key BSpace") < events.indexOf("text how is it going?"));
    assert.equal(pane.input.leftBehind, undefined);
  }
});

Deno.test("removal: the rest of a text after one message is still svc's for the next one [inj-take-back]", async () => {
  const pane = makeHanging();
  const first = await pane.inject("first", { expiresAt: pane.clock.now() + 4_000 });
  assert.equal(first.state, "expired");
  wake(pane, "delete the bra");
  assert.equal((await pane.inject("second", { sendAnyway: true })).state, "submitted");
  assert.deepEqual(pane.events.filter((event) => event.startsWith("text")), ["text second"]);
  assert.equal(removals(pane).length, REMOVE_STUCK_KEYS + 2 * "delete the bra".length);
});

Deno.test("removal: an agent whose screen stays unchanged gets more keys only after a while, and none once the local user has pressed one [inj-take-back]", async () => {
  for (const isUserThere of [false, true]) {
    const pane = makeHanging();
    const begun = pane.clock.elapsed();
    const again = begun + REMOVE_STUCK_KEYS * REMOVE_STEP_MS + REMOVE_AGAIN_MS;
    pane.onPause = () => {
      if (pane.clock.elapsed() < again - 1_000) assert.ok(removals(pane).length <= REMOVE_STUCK_KEYS);
      const isStuck = removals(pane).length === REMOVE_STUCK_KEYS;
      if (isUserThere && isStuck) pane.localUserActivity ??= seconds(pane) + 1;
    };
    const expiresAt = pane.clock.now() + 2 * REMOVE_AGAIN_MS;
    const { state, reason } = await pane.inject("next", { expiresAt, sendAnyway: true });
    assert.deepEqual([state, reason], isUserThere ? ["refused", "desk_busy"] : ["expired", undefined]);
    assert.equal(removals(pane).length, (isUserThere ? 1 : 2) * REMOVE_STUCK_KEYS);
  }
});

Deno.test("removal: svc's text after the local user's draft stays, and nothing is typed after both [inj-take-back, inj-send-anyway]", async () => {
  const pane = makeHanging(LEFT, { before: "and " });
  const { state, reason } = await pane.inject("next", { sendAnyway: true });
  assert.deepEqual([state, reason], ["refused", "desk_busy"]);
  assert.ok(pane.clock.elapsed() >= LOCAL_USER_HOLD_MS);
  assert.ok(!pane.events.some((event) => /^(?:key|text)/.test(event)));
});

Deno.test("removal: a frame that mixes two others does not end it, one that stays does [inj-take-back]", async () => {
  for (const [stays, end] of [[false, "submitted"], [true, "refused"]] as const) {
    const pane = makeHanging("one\ntwo\nthree");
    let pauses = 0;
    pane.onKey = (key) => {
      if (key === "Enter" || pauses > 0) return pane.draw("");
      pane.draw("one\nthree");
      pauses = 1;
    };
    pane.onPause = () => {
      if (pauses > 0 && pauses++ === 3 && !stays) pane.draw("one\ntwo\n");
    };
    assert.equal((await pane.inject("next")).state, end);
    assert.deepEqual(removals(pane), stays ? ["key C-u"] : ["key C-u", "key BSpace"]);
  }
});

Deno.test("removal: a mixed frame at the first check does not make it the local user's either [inj-take-back]", async () => {
  const pane = makeHanging("one\ntwo\nthree");
  pane.draw("one\nthree");
  let pauses = 0;
  pane.onPause = () => {
    if (++pauses === 3) pane.draw("one\ntwo\nthree");
  };
  pane.onKey = () => pane.draw("");
  assert.equal((await pane.inject("next")).state, "submitted");
});

Deno.test("removal: the local user's first letters stay, although svc's text has them too, or ends the draft [inj-take-back]", async () => {
  for (const letters of ["the", "branch", "please delete the branch"]) {
    const pane = makeHanging();
    pane.onPause = () => {
      if (removals(pane).length === 2) pane.draw(letters);
    };
    assert.equal((await pane.inject("next")).reason, "desk_busy", letters);
    assert.equal(removals(pane).length, 2, letters);
    assert.equal(pane.reading.draft, letters);
  }
});

Deno.test("removal: no key is pressed once the local user has pressed one, whatever the draft shows [inj-take-back]", async () => {
  const pane = makeHanging();
  pane.onPause = () => {
    if (removals(pane).length !== 1) return;
    pane.localUserActivity ??= seconds(pane) + 1;
    pane.draw("del");
  };
  await removeEarlier(paneContext(pane.injection(), pane.target), { before: "", text: LEFT });
  assert.equal(removals(pane).length, 1);
});

Deno.test("removal: a tall text is removed although its composer shows only part of it [inj-take-back]", async () => {
  const rows = Array.from({ length: 12 }, (_, at) => `this is the row ${at}`);
  const pane = makeHanging(rows.join("\n"));
  const drawTail = (): void => {
    pane.draw(rows.slice(-6).join("\n"), rows.length > 6 ? { cut: true } : {});
  };
  drawTail();
  pane.onKey = (key) => {
    if (key === "Enter") return pane.draw("");
    if (key === "C-u") rows.pop();
    drawTail();
  };
  assert.equal((await pane.inject("next")).state, "submitted");
  assert.equal(rows.length, 0);
});
