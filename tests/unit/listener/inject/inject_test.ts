/** What an injection leaves behind when something goes wrong: the text, the marker, and its outcome. */
import assert from "node:assert/strict";
import { DRAW_LIMIT_MS } from "../../../../src/listener/inject/composer.ts";
import { CONFIRM_LIMIT_MS } from "../../../../src/listener/inject/inject.ts";
import { TURN_START_MS } from "../../../../src/listener/inject/pane_input.ts";
import { TmuxError } from "../../../../src/tmux/server.ts";
import { FakePane } from "../../../helpers/fake_pane.ts";

const NOT_CONFIRMED = { state: "unknown", reason: "not_confirmed", pane: "%3" };

/** After Enter the agent shows this draft until the confirmation is given up. */
async function injectUnconfirmed(pane: FakePane, draft: string | undefined): Promise<void> {
  pane.onKey = (key) => {
    if (key === "Enter") pane.draw(draft);
  };
  assert.deepEqual(await pane.inject("hello"), NOT_CONFIRMED);
}

Deno.test("inject: a connection that is lost during Enter leaves the outcome open, and the marker to the hook [inj-lost]", async () => {
  const pane = new FakePane();
  pane.onKey = () => {
    throw new TmuxError("tmux ended the control client", { lost: true });
  };
  assert.deepEqual(await pane.inject("hello"), NOT_CONFIRMED);
  assert.ok(!pane.events.includes("marker withdrawn"));
  // Enter was not sent: the next message finds the text and removes it.
  pane.onKey = () => pane.draw("");
  assert.equal((await pane.inject("second")).state, "submitted");
  assert.deepEqual(pane.events.filter((event) => /^(?:key|text)/.test(event)), [
    ...["text hello", "key Enter"],
    ...["key C-u", "text second", "key Enter"],
  ]);
});

Deno.test("inject: Enter that tmux refuses was not sent, and the marker of a held text is withdrawn [inj-marker-back]", async () => {
  const pane = new FakePane();
  pane.onRecord = (step) => {
    if (step === "typed") queueMicrotask(() => pane.draw(undefined, { focus: "dialog" }));
  };
  pane.onPause = () => {
    if (pane.reading.focus === "dialog") pane.draw("hello");
  };
  pane.onKey = () => {
    throw new TmuxError("can't find pane: %3");
  };
  assert.deepEqual(await pane.inject("hello"), { state: "refused", reason: "pane_dead", pane: "%3" });
  assert.deepEqual(pane.events.filter((event) => event.startsWith("marker")), [
    ...["marker written", "marker withdrawn"],
    ...["marker written", "marker withdrawn"],
  ]);
});

Deno.test("inject: no marker stays when the journal cannot be written [inj-marker-back, inj-journal]", async () => {
  for (const failing of ["typing", "typed"]) {
    const pane = new FakePane();
    pane.onRecord = (step) => {
      if (step === failing) throw new Error("disk full");
    };
    await assert.rejects(pane.inject("hello"), /disk full/);
    assert.equal(pane.events.at(-1), "marker withdrawn", failing);
  }
});

Deno.test("inject: a text that was typed when tmux could not be asked any more is removed before the next message [inj-take-back]", async () => {
  const pane = new FakePane();
  pane.onRecord = (step) => {
    if (step === "typed") pane.failure = new TmuxError("tmux ended the control client", { lost: true });
  };
  assert.deepEqual(await pane.inject("hello"), { state: "refused", reason: "tmux_failed", pane: "%3" });
  pane.failure = undefined;
  pane.onRecord = () => {};
  assert.equal((await pane.inject("second")).state, "submitted");
  assert.ok(pane.events.includes("key C-u"));
});

Deno.test("inject: a text that may still be in the composer is removed before the next message [inj-take-back]", async () => {
  const pane = new FakePane();
  await injectUnconfirmed(pane, undefined);
  pane.draw("hello");
  pane.onKey = () => pane.draw("");
  assert.equal((await pane.inject("second")).state, "submitted");
  assert.ok(pane.events.includes("key C-u"));
});

Deno.test("inject: a text that the composer no longer shows is not looked for there later [inj-take-back]", async () => {
  const pane = new FakePane();
  await injectUnconfirmed(pane, "the local user's own");
  pane.draw("hello");
  assert.deepEqual(await pane.inject("second"), { state: "refused", reason: "desk_busy", pane: "%3" });
  assert.ok(!pane.events.includes("key C-u"), "the local user has typed the same text");
});

Deno.test("inject: a folded paste is removed only if it is the one that svc left [inj-take-back]", async () => {
  for (const [draft, isOurs] of [["[Pasted text #1]", true], ["[Pasted text #2]", false]] as const) {
    const pane = new FakePane();
    pane.onRecord = (step) => {
      if (step === "typed") pane.draw("[Pasted text #1]");
    };
    await injectUnconfirmed(pane, undefined);
    pane.draw(draft);
    pane.onKey = () => pane.draw("");
    const { state } = await pane.inject("second");
    assert.equal(state, isOurs ? "submitted" : "refused", draft);
    assert.equal(pane.events.includes("key C-u"), isOurs, draft);
  }
});

Deno.test("inject: while another screen holds a message, tmux searches no screen for a dialog, and does before it is typed [read-linear, inj-pessimistic]", async () => {
  const pane = new FakePane();
  pane.draw(undefined);
  let [pauses, atFirst] = [0, 0];
  pane.onPause = () => {
    pauses++;
    if (pauses === 1) atFirst = pane.searches;
    if (pauses < 20) return assert.equal(pane.searches, atFirst);
    if (pauses === 20) pane.draw("");
  };
  pane.onRecord = (step) => {
    if (step === "typing") assert.equal(pane.searches, atFirst + 1);
  };
  assert.equal((await pane.inject("hello")).state, "submitted");
  assert.ok(pauses >= 20);
});

Deno.test("inject: a half-drawn screen does not let a tool call begin before the agent has read Enter [inj-gate]", async () => {
  const pane = new FakePane({ gate: { afterEnterMs: 0 } }).gated();
  const begun: number[] = [];
  let sentAt: number | undefined;
  const sinceEnter = (): number => sentAt === undefined ? -1 : pane.clock.now() - sentAt;
  pane.onKey = () => {
    sentAt = pane.clock.now();
    const report = { event: "PreToolUse", agent: "cc", cwd: "/p", session: "svc-p", gates: true };
    void pane.inputs.toolBegins({ ...report, tool: { step: "before" } }).then(() => begun.push(sinceEnter()));
    // One frame without a composer, then the draft again, then another screen for good.
    pane.draw(undefined);
  };
  pane.onPause = () => {
    if (sentAt !== undefined) pane.draw(sinceEnter() < 20 ? "hello" : undefined);
  };
  await pane.inject("hello");
  const [after = 0] = begun;
  assert.ok(after >= DRAW_LIMIT_MS, `${after}`);
  assert.ok(after < CONFIRM_LIMIT_MS, `${after}`);
});

Deno.test("inject: an Enter that an agent without a gate has lost is pressed once more, when it cannot be in a turn [inj-enter-twice]", async () => {
  const pane = new FakePane();
  const pressedAt: number[] = [];
  pane.onKey = (key) => {
    if (key !== "Enter") return;
    pressedAt.push(pane.clock.now());
    if (pressedAt.length === 2) pane.draw("");
  };
  assert.equal((await pane.inject("hello")).state, "submitted");
  const [first = 0, second = 0] = pressedAt;
  assert.ok(second - first >= TURN_START_MS, `${second - first}`);
});
