/** A message whose agent stalls after Enter, until svc removes its text again. */
import assert from "node:assert/strict";
import { CONFIRM_LIMIT_MS } from "../../../../src/listener/inject/inject.ts";
import { TAKEN_GRACE_MS } from "../../../../src/listener/inject/remove_text.ts";
import { FakePane } from "../../../helpers/fake_pane.ts";

/** Makes an agent that reads Enter and the keys after it only at Ctrl-U. */
function makeStalled(): FakePane {
  const pane = new FakePane();
  pane.onKey = (key) => {
    if (key === "C-u") pane.draw("");
  };
  return pane;
}

/** Calls `after` once, `ms` after the agent resumed. */
function whenAwake(pane: FakePane, { ms, after }: { ms: number; after(): void }): void {
  let since: number | undefined;
  let isDone = false;
  pane.onPause = () => {
    if (pane.events.includes("key C-u")) since ??= pane.clock.elapsed();
    if (isDone || since === undefined || pane.clock.elapsed() - since < ms) return;
    isDone = true;
    after();
  };
}

const LATE_MS = TAKEN_GRACE_MS / 2;

Deno.test("stalled: a message that the agent received before svc removed its text is submitted, not refused [inj-proof, inj-take-back]", async () => {
  const signs: [string, (pane: FakePane) => void][] = [
    ["its hook takes the marker", (pane) => pane.isTaken = true],
    ["the screen shows the text", (pane) => pane.transcript = ["> hello"]],
  ];
  for (const [sign, show] of signs) {
    const pane = makeStalled();
    whenAwake(pane, { ms: LATE_MS, after: () => show(pane) });
    assert.equal((await pane.inject("hello")).state, "submitted", sign);
    assert.ok(!pane.events.includes("marker withdrawn"), sign);
  }
});

Deno.test("stalled: a message is also submitted if its agent draws slowly, or opens a dialog at once, when svc removes its text [inj-proof, inj-take-back]", async () => {
  const screens: [string, { draft: string | undefined; focus?: "dialog" }][] = [
    ["half drawn", { draft: "" }],
    ["a dialog", { draft: undefined, focus: "dialog" }],
  ];
  for (const [what, { draft, focus = "composer" }] of screens) {
    const pane = makeStalled();
    pane.onKey = (key) => {
      if (key === "C-u") pane.draw(undefined);
    };
    const awake = (): void => {
      pane.draw(draft, { focus });
      pane.isTaken = true;
    };
    whenAwake(pane, { ms: 100, after: awake });
    assert.equal((await pane.inject("hello")).state, "submitted", what);
    assert.equal(pane.input.leftBehind, undefined, what);
  }
});

Deno.test("stalled: the local user's text in an agent that resumes is not removed [inj-take-back]", async () => {
  for (const next of ["and this", "fix it"]) {
    const pane = makeStalled();
    pane.onKey = (key) => {
      if (key === "C-u") pane.draw(undefined);
    };
    whenAwake(pane, { ms: 100, after: () => pane.draw(next) });
    assert.equal((await pane.inject("hello")).state, "unknown");
    assert.deepEqual(pane.events.filter((event) => event.startsWith("key")).slice(-1), ["key C-u"]);
    assert.equal(pane.reading.draft, next);
  }
});

Deno.test("stalled: a hook that takes the marker before it can be withdrawn decides the outcome [inj-proof]", async () => {
  const pane = makeStalled();
  pane.onWithdraw = () => pane.isTaken = true;
  assert.equal((await pane.inject("hello")).state, "submitted");
});

Deno.test("stalled: an agent that works, or whose composer is not empty, may have received the message: it is unknown, and its marker stays [inj-proof, inj-take-back]", async () => {
  const signs: [string, (pane: FakePane) => void][] = [
    ["it works", (pane) => pane.draw("", { state: "working" })],
    ["it has worked", (pane) => {
      pane.draw("", { state: "working" });
      whenAwake(pane, { ms: 100, after: () => pane.draw("") });
    }],
    ["its process is busy", (pane) => pane.isBusy = true],
    ["it calls a tool", (pane) => {
      const report = { event: "PreToolUse", agent: "cc", cwd: "/p", session: "svc-p", gates: true };
      void pane.inputs.toolBegins({ ...report, tool: { step: "before", id: "1" } });
    }],
    ["a dialog is open", (pane) => pane.draw(undefined, { focus: "dialog", state: "waiting" })],
    ["the local user types", (pane) => pane.draw("and")],
  ];
  for (const [sign, show] of signs) {
    const pane = makeStalled();
    whenAwake(pane, { ms: LATE_MS, after: () => show(pane) });
    const { state, reason } = await pane.inject("hello");
    assert.deepEqual([state, reason], ["unknown", "not_confirmed"], sign);
    assert.ok(!pane.events.includes("marker withdrawn"), sign);
  }
});

Deno.test("stalled: a message is refused once the agent has been idle with an empty composer for a limited time [inj-take-back, inj-marker-back]", async () => {
  const pane = makeStalled();
  const { state, reason } = await pane.inject("hello");
  assert.deepEqual([state, reason], ["refused", "not_submitted"]);
  assert.equal(pane.events.at(-1), "marker withdrawn");
  const took = pane.clock.elapsed() - CONFIRM_LIMIT_MS;
  assert.ok(took >= TAKEN_GRACE_MS && took < TAKEN_GRACE_MS + 1_000, `${took}`);
});

Deno.test("stalled: a slash command, which no hook reports, is refused only if the screen is as it was before [inj-proof, inj-slash]", async () => {
  for (const [line, end] of [["Welcome", "refused"], ["Conversation compacted", "unknown"]] as const) {
    const pane = makeStalled();
    pane.transcript = ["Welcome"];
    pane.target.profile.commands = ["compact"];
    whenAwake(pane, { ms: LATE_MS, after: () => pane.transcript = [line] });
    assert.equal((await pane.inject("/compact")).state, end, line);
  }
});
