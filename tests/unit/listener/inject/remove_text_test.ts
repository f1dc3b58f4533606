/** What the next listener does with text that a killed one left in a composer. */
import assert from "node:assert/strict";
import { type EarlierTyping, paneContext, Stopping } from "../../../../src/listener/inject/context.ts";
import { CONFIRM_LIMIT_MS } from "../../../../src/listener/inject/inject.ts";
import { EXPIRED_HOLD_MS } from "../../../../src/listener/inject/message_text.ts";
import {
  EARLIER_DRAW_MS,
  REMOVE_STEP_MS,
  REMOVE_STUCK_KEYS,
  removeEarlier,
} from "../../../../src/listener/inject/remove_text.ts";
import { FakePane } from "../../../helpers/fake_pane.ts";

const FOLDED = "[Pasted text #1]";
const OTHER = "[Pasted text #2]";

/** Returns the pressed keys that remove text. */
const removals = ({ events }: FakePane): string[] =>
  events.filter((event) => /^key (?:C-u|BSpace)$/.test(event));
const STUCK_KEYS = ["key C-u", "key BSpace", "key C-u"];

async function remove(pane: FakePane, earlier: EarlierTyping = {}): Promise<void> {
  const context = paneContext(pane.injection(), pane.target);
  await removeEarlier(context, { before: "", text: "one\ntwo", ...earlier });
}

Deno.test("remove: a busy agent may draw late what a killed listener typed; svc waits for it and keeps other input out [inj-take-back]", async () => {
  const pane = new FakePane();
  pane.isBusy = true;
  let next: Promise<unknown> | undefined;
  pane.onPause = () => {
    next ??= pane.inject("next");
    if (pane.clock.elapsed() < 1_000) return;
    if (pane.isBusy) pane.draw("one\ntwo");
    pane.isBusy = false;
  };
  await remove(pane);
  pane.onPause = () => {};
  assert.equal(pane.events[0], "key C-u", "nothing was typed before that");
  assert.equal(pane.input.leftBehind, undefined);
  await next;
  assert.deepEqual(pane.events.filter((event) => event.startsWith("text")), ["text next"]);
});

Deno.test("remove: a text that an idle agent does not show, or a busy one not in time, is left to the next message [inj-take-back]", async () => {
  const resting = new FakePane();
  await remove(resting);
  assert.ok(resting.clock.elapsed() < EARLIER_DRAW_MS);
  const busy = new FakePane();
  busy.isBusy = true;
  await remove(busy);
  assert.ok(busy.clock.elapsed() >= EARLIER_DRAW_MS);
  for (const pane of [resting, busy]) {
    assert.deepEqual(pane.events, []);
    pane.draw("one\ntwo");
    assert.equal((await pane.inject("next")).state, "submitted");
    assert.equal(pane.events[0], "key C-u");
  }
});

Deno.test("remove: a folded paste is the killed listener's only if the composer was empty and no key was pressed since [inj-take-back]", async () => {
  const cases: [string, boolean, (pane: FakePane, seconds: number) => EarlierTyping | void][] = [
    ["empty before", true, () => {}],
    ["a draft before", false, () => ({ emptyAt: undefined })],
    ["a key two seconds before", true, (pane, now) => void (pane.localUserActivity = now - 2)],
    ["a key a second before, perhaps after the last look", false, (pane, now) => {
      pane.localUserActivity = now - 1;
    }],
    ["a key later, by a clock that was set back", false, (pane, now) => {
      pane.clock.jump(-3_600_000);
      pane.localUserActivity = now - 3_000;
    }],
    ["a key later", false, (pane, now) => void (pane.localUserActivity = now + 5)],
    ["a phone's key later", false, (pane) => void (pane.input.model.keyAt = pane.clock.now() + 5)],
    ["the mark that was seen", true, () => ({ emptyAt: undefined, shown: FOLDED })],
    ["another mark than was seen", false, () => ({ emptyAt: undefined, shown: OTHER })],
  ];
  for (const [what, isOurs, prepare] of cases) {
    const pane = new FakePane();
    pane.draw(FOLDED);
    const now = pane.clock.now();
    await remove(pane, { emptyAt: now, ...prepare(pane, Math.floor(now / 1_000)) });
    assert.deepEqual(pane.events, isOurs ? ["key C-u"] : [], what);
  }
});

Deno.test("remove: the next message removes a folded paste that was drawn too late, but never the local user's [inj-take-back]", async () => {
  for (const isOurs of [true, false]) {
    const pane = new FakePane();
    await remove(pane, isOurs ? { emptyAt: pane.clock.now() } : {});
    pane.draw(FOLDED);
    const { state } = await pane.inject("next");
    assert.equal(state, isOurs ? "submitted" : "refused");
    assert.equal(pane.events.includes("key C-u"), isOurs);
  }
});

Deno.test("remove: Enter submits a folded paste of an earlier listener, but not the local user's [inj-stop, ls-handover]", async () => {
  const typedAt = new FakePane().clock.now();
  const cases: [string, boolean, EarlierTyping][] = [
    ["empty before", true, { emptyAt: typedAt }],
    ["the mark that was seen", true, { shown: FOLDED }],
    ["another mark than was seen", false, { shown: OTHER }],
    ["another mark than was seen, empty before", false, { shown: OTHER, emptyAt: typedAt }],
    ["a draft before", false, {}],
  ];
  for (const [what, isOurs, left] of cases) {
    const pane = new FakePane();
    pane.draw(FOLDED);
    const { state } = await pane.inject("one\ntwo", { left });
    assert.equal(state, isOurs ? "submitted" : "unknown", what);
    assert.equal(pane.events.includes("key Enter"), isOurs, what);
  }
});

Deno.test("remove: the journal records whether the composer was empty, and the mark of a paste that waits for Enter [inj-journal, inj-stop]", async () => {
  const steps: unknown[] = [];
  const pane = new FakePane();
  pane.target.profile.typing = { ...pane.target.profile.typing, settleAtLeastMs: 100 };
  pane.onRecord = (step, earlier) => {
    steps.push([step, earlier]);
    if (step === "typed") queueMicrotask(() => pane.draw(FOLDED));
  };
  pane.onPause = () => {
    if (pane.reading.draft !== FOLDED) return;
    pane.draw(undefined, { focus: "dialog" });
    pane.stopping.abort(new Stopping("the daemon stops"));
  };
  const begun = pane.clock.now();
  await assert.rejects(pane.inject("one\ntwo"), Stopping);
  assert.deepEqual(steps[0], ["typing", { emptyAt: begun }]);
  assert.deepEqual(steps.at(-1), ["left", { shown: FOLDED }]);
  const beside = new FakePane();
  beside.draw("a draft ");
  beside.onRecord = (step, earlier) => {
    if (step === "typing") assert.deepEqual(earlier, { emptyAt: undefined });
  };
  assert.equal((await beside.inject("hello", { sendAnyway: true })).state, "submitted");
});

Deno.test("remove: a message that expires before a busy agent has drawn it is removed once it shows, and is expired, not unknown [inj-take-back, fault-asleep]", async () => {
  for (const drawnAfterMs of [500, 10_000]) {
    const pane = new FakePane();
    const expiresAt = pane.clock.now() + 1_000;
    pane.onText = () => {
      pane.draw("");
      pane.clock.advance(3_600_000);
    };
    pane.onPause = () => {
      if (pane.clock.now() > expiresAt + 3_600_000 + drawnAfterMs && !pane.events.includes("key C-u")) {
        pane.draw("one\ntwo");
      }
    };
    const { state } = await pane.inject("one\ntwo", { expiresAt });
    assert.equal(state, "expired");
    assert.equal(pane.events.filter((event) => event.startsWith("key")).join(), "key C-u");
  }
});

Deno.test("remove: an expired message is removed after the tool call or dialog that blocks it; if that stays, it is unknown [inj-take-back, rcpt-ends]", async () => {
  const ways = [["call", 5_000], ["dialog", 5_000], ["dialog", Infinity]] as const;
  for (const [way, endsAfterMs] of ways) {
    const pane = new FakePane({ gate: { afterEnterMs: 0 } }).gated();
    const expiresAt = pane.clock.now() + 1_000;
    const report = { event: "PreToolUse", agent: "cc", cwd: "/p", session: "svc-p", gates: true };
    const call = (step: "before" | "after") => ({ ...report, tool: { step, id: "1" } });
    pane.onRecord = (step) => {
      if (step !== "typed") return;
      pane.clock.advance(2_000);
      if (way === "call") void pane.inputs.toolBegins(call("before"));
      else queueMicrotask(() => pane.draw(undefined, { focus: "dialog" }));
    };
    pane.onPause = () => {
      if (pane.clock.now() < expiresAt + endsAfterMs || pane.events.includes("key C-u")) return;
      if (way === "call") pane.inputs.hook(call("after"));
      else pane.draw("one\ntwo");
    };
    const { state } = await pane.inject("one\ntwo", { expiresAt });
    const isRemoved = endsAfterMs !== Infinity;
    assert.equal(state, isRemoved ? "expired" : "unknown", way);
    assert.deepEqual(pane.events.filter((event) => /^key/.test(event)), isRemoved ? ["key C-u"] : [], way);
  }
});

Deno.test("remove: an expired message is removed at a later try if the pane takes no key at first, as after the host has slept [inj-take-back, fault-asleep]", async () => {
  const pane = new FakePane();
  const expiresAt = pane.clock.now() + 1_000;
  pane.onRecord = (step) => {
    if (step === "typed") pane.clock.advance(3_600_000);
  };
  let tries = 0;
  pane.onKey = (key) => {
    assert.equal(key, "C-u");
    const isPressed = ++tries === 3;
    if (isPressed) pane.draw("");
    return isPressed;
  };
  assert.equal((await pane.inject("hello", { expiresAt })).state, "expired");
  assert.equal(tries, 3);
});

Deno.test("remove: a killed listener's text waits in the composer for the end of a tool call, and so does the next message [inj-take-back]", async () => {
  const pane = new FakePane({ gate: { afterEnterMs: 0 } }).gated();
  const report = { event: "PreToolUse", agent: "cc", cwd: "/p", session: "svc-p", gates: true };
  await pane.inputs.toolBegins({ ...report, tool: { step: "before", id: "1" } });
  pane.draw("one\ntwo");
  await remove(pane);
  assert.deepEqual(pane.events, []);
  const endsAt = pane.clock.elapsed() + 3_000;
  pane.onPause = () => {
    if (pane.clock.elapsed() < endsAt) return;
    pane.inputs.hook({ ...report, tool: { step: "after", id: "1" } });
  };
  assert.equal((await pane.inject("next")).state, "submitted");
  assert.deepEqual(pane.events.slice(0, 2), ["reported held agent_working", "key C-u"]);
});

Deno.test("remove: a held text is submitted only as it was seen; another paste in its place is the local user's [inj-take-back]", async () => {
  for (const [body, shown, now] of [["hello", "hello", FOLDED], ["one\ntwo", FOLDED, OTHER]] as const) {
    for (const isOurs of [true, false]) {
      const pane = new FakePane();
      pane.target.profile.typing = { ...pane.target.profile.typing, settleAtLeastMs: 100 };
      pane.onText = () => pane.draw(shown);
      let pauses = 0;
      pane.onPause = () => {
        if (++pauses === 1) pane.draw(undefined, { focus: "dialog" });
        if (pauses === 5) pane.draw(isOurs ? shown : now);
      };
      assert.equal((await pane.inject(body)).state, isOurs ? "submitted" : "unknown");
      assert.equal(pane.events.includes("key Enter"), isOurs, `${body}: ${isOurs ? shown : now}`);
      assert.ok(!pane.events.includes("key C-u"));
    }
  }
});

Deno.test("remove: the paste of an earlier listener that was replaced before Enter reached it is not submitted [inj-stop]", async () => {
  const pane = new FakePane();
  pane.draw(FOLDED);
  pane.onKey = () => {
    pane.draw(OTHER);
    return false;
  };
  assert.equal((await pane.inject("one\ntwo", { left: { shown: FOLDED } })).state, "unknown");
  assert.deepEqual(pane.events.filter((event) => event.startsWith("key")), ["key Enter"]);
});

Deno.test("remove: a folded paste that this listener typed is not the killed one's [inj-take-back]", async () => {
  const pane = new FakePane();
  const emptyAt = pane.clock.now();
  pane.clock.advance(5_000);
  pane.target.profile.typing = { ...pane.target.profile.typing, settleAtLeastMs: 100 };
  pane.onText = () => pane.draw(FOLDED);
  let [pauses, removed]: [number, Promise<void> | undefined] = [0, undefined];
  pane.onPause = () => {
    if (++pauses === 1) pane.draw(undefined, { focus: "dialog" });
    if (pauses !== 4) return;
    removed = remove(pane, { emptyAt });
    pane.draw(FOLDED);
  };
  assert.equal((await pane.inject("three\nfour")).state, "submitted");
  await removed;
  assert.ok(!pane.events.includes("key C-u"));
});

Deno.test("remove: a paste behind a dialog is svc's if nothing was typed since; otherwise it stays, even once the message has expired [inj-take-back]", async () => {
  for (const isOurs of [true, false]) {
    for (const ttl of [3_600_000, 1_000]) {
      const pane = new FakePane();
      pane.onText = () => pane.draw(undefined, { focus: "dialog" });
      const begun = pane.clock.now();
      let isClosed = false;
      pane.onPause = () => {
        if (isClosed || pane.clock.now() < begun + 5_000) return;
        isClosed = true;
        if (!isOurs) pane.localUserActivity = Math.floor(begun / 1_000) + 4;
        pane.draw(FOLDED);
      };
      const { state } = await pane.inject("one\ntwo", { expiresAt: begun + ttl });
      const end = ttl === 1_000 ? "expired" : "submitted";
      assert.equal(state, isOurs ? end : "unknown");
      assert.equal(pane.reading.draft, isOurs ? "" : FOLDED);
    }
  }
});

Deno.test("remove: a hanging agent gets only three keys, and the pane is free again after three seconds [inj-take-back]", async () => {
  assert.equal(STUCK_KEYS.length, REMOVE_STUCK_KEYS);
  const limitMs = (REMOVE_STUCK_KEYS + 1) * REMOVE_STEP_MS;
  const left = new FakePane();
  left.draw("one\ntwo");
  left.onKey = () => {};
  await remove(left);
  assert.deepEqual(removals(left), STUCK_KEYS);
  assert.ok(left.clock.elapsed() < limitMs, `${left.clock.elapsed()}`);
  const sent = new FakePane();
  sent.onKey = () => {};
  const { state, reason } = await sent.inject("one\ntwo");
  assert.deepEqual([state, reason], ["unknown", "not_confirmed"]);
  assert.deepEqual(removals(sent), STUCK_KEYS);
  assert.ok(sent.clock.elapsed() < CONFIRM_LIMIT_MS + limitMs, `${sent.clock.elapsed()}`);
});

Deno.test("remove: a key without effect between others that have one does not end the removal [inj-take-back]", async () => {
  const pane = new FakePane();
  pane.draw("one\ntwo");
  pane.onKey = (key) => {
    if (key === "BSpace") pane.draw(pane.reading.draft?.slice(0, -1));
    return true;
  };
  await remove(pane, { shown: "one\ntwo" });
  assert.equal(pane.reading.draft, "");
  assert.equal(removals(pane).length, 2 * "one\ntwo".length);
});

Deno.test("remove: an expired message in a hanging agent gets three keys; it is expired once the agent has read them, and unknown otherwise [inj-take-back, fault-asleep]", async () => {
  for (const [draft, end] of [["", "expired"], ["one\ntwo", "unknown"], ["another", "unknown"]] as const) {
    const pane = new FakePane();
    const expiresAt = pane.clock.now() + 1_000;
    pane.onKey = () => {};
    pane.onRecord = (step) => {
      if (step === "typed") pane.clock.advance(3_600_000);
    };
    let typed = 0;
    pane.onText = () => typed = pane.clock.elapsed();
    pane.onPause = () => {
      if (pane.clock.elapsed() - typed > 3_600_000 + EXPIRED_HOLD_MS / 2) pane.draw(draft);
    };
    const { state } = await pane.inject("one\ntwo", { expiresAt });
    assert.equal(state, end, draft);
    assert.deepEqual(removals(pane), STUCK_KEYS, draft);
  }
});
