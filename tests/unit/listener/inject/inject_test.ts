/** What an injection leaves when something fails: the text, the marker, and its outcome. */
import assert from "node:assert/strict";
import { Stopping, TakenOver } from "../../../../src/listener/inject/context.ts";
import { DRAW_LIMIT_MS } from "../../../../src/listener/inject/composer.ts";
import { CONFIRM_LIMIT_MS, HOLD_STEP_MS } from "../../../../src/listener/inject/inject.ts";
import { TURN_START_MS } from "../../../../src/listener/inject/pane_input.ts";
import { TmuxError } from "../../../../src/tmux/server.ts";
import { DEFAULT_POLICY, DIALOG_LINE, FakePane } from "../../../helpers/fake_pane.ts";

const LOST = new TmuxError("tmux ended the control client", { lost: true });
const count = (pane: FakePane, event: string): number => pane.events.filter((one) => one === event).length;
const NOT_CONFIRMED = { state: "unknown", reason: "not_confirmed", pane: "%3" };

/** Injects a message whose agent shows this draft after Enter until confirmation times out. */
async function injectUnconfirmed(pane: FakePane, draft: string | undefined): Promise<void> {
  pane.onKey = (key) => {
    if (key === "Enter") pane.draw(draft);
  };
  assert.deepEqual(await pane.inject("hello"), NOT_CONFIRMED);
}

Deno.test("inject: a connection that is lost during Enter leaves the outcome open, and the marker to the hook [inj-lost]", async () => {
  const pane = new FakePane();
  pane.onKey = () => {
    throw LOST;
  };
  assert.deepEqual(await pane.inject("hello"), NOT_CONFIRMED);
  assert.ok(!pane.events.includes("marker withdrawn"));
  // Enter was not sent, so the next message finds the text and removes it.
  pane.onKey = () => pane.draw("");
  assert.equal((await pane.inject("second")).state, "submitted");
  assert.deepEqual(pane.events.filter((event) => /^(?:key|text)/.test(event)), [
    ...["text hello", "key Enter", "key Enter", "key C-u"],
    ...["key C-u", "text second", "key Enter"],
  ]);
});

Deno.test("inject: after a connection is lost during Enter the screen shows whether the key worked [inj-lost]", async () => {
  const reached = new FakePane();
  reached.onKey = () => {
    reached.draw("");
    throw LOST;
  };
  assert.equal((await reached.inject("hello")).state, "submitted");
  const missed = new FakePane();
  let presses = 0;
  missed.onKey = () => {
    if (++presses === 1) throw LOST;
    missed.draw("");
  };
  assert.equal((await missed.inject("hello")).state, "submitted");
  const gone = new FakePane();
  gone.onKey = () => {
    gone.failure = new TmuxError("no server running on /tmux.sock");
    throw LOST;
  };
  assert.deepEqual(await gone.inject("hello"), NOT_CONFIRMED, "the server was killed while it got the key");
});

Deno.test("inject: a text whose typing lost the connection is submitted if it is there; Enter was not pressed if the pane is gone [inj-lost]", async () => {
  const there = new FakePane();
  there.onText = () => {
    throw LOST;
  };
  assert.equal((await there.inject("hello")).state, "submitted");
  const gone = new FakePane();
  gone.onText = () => {
    gone.failure = new TmuxError("no server running on /tmux.sock");
    throw LOST;
  };
  const failure = "no server running on /tmux.sock";
  assert.deepEqual(await gone.inject("hello"), {
    state: "refused",
    reason: "pane_dead",
    failure,
    pane: "%3",
  });
});

Deno.test("inject: if the typing of a text lost the connection and no screen shows whether the text arrived, nothing is submitted, and the text is not reported as typed [inj-lost]", async () => {
  const pane = new FakePane({ recordedPid: 0, isProfiled: false });
  pane.draw(undefined);
  pane.onText = () => {
    pane.draw(undefined);
    throw LOST;
  };
  assert.deepEqual(await pane.inject("hello"), { state: "unknown", pane: "%3" });
  assert.equal(count(pane, "key Enter"), 0);
});

Deno.test("inject: a listener that stops finishes a message that it has typed [inj-stop]", async () => {
  for (const at of ["typing", "typed", "Enter"]) {
    const pane = new FakePane();
    const stopAt = (step: string): void => {
      if (step === at) pane.stopping.abort(new Stopping("the daemon stops"));
    };
    pane.onRecord = stopAt;
    let pauses = 0;
    pane.onKey = stopAt;
    pane.onPause = () => {
      if (pane.events.includes("key Enter") && ++pauses === 3) pane.draw("");
    };
    assert.equal((await pane.inject("hello")).state, "submitted", at);
  }
});

Deno.test("inject: a text that a dialog holds when the listener stops is left to the next one, which submits it once [inj-stop, ls-handover]", async () => {
  const pane = new FakePane();
  pane.onRecord = (step) => {
    if (step === "typed") queueMicrotask(() => pane.draw(undefined, { focus: "dialog" }));
  };
  pane.onPause = () => {
    if (pane.reading.focus === "dialog") pane.stopping.abort(new Stopping("the daemon stops"));
  };
  await assert.rejects(pane.inject("hello"), Stopping);
  assert.equal(pane.events.at(-1), "left");
  for (const [draft, outcome] of [["hello", "submitted"], ["", "unknown"]] as const) {
    const next = new FakePane();
    next.draw(undefined, { focus: "dialog" });
    next.onPause = () => {
      if (next.reading.focus === "dialog") next.draw(draft);
    };
    assert.equal((await next.inject("hello", { left: {} })).state, outcome, draft);
    const steps = next.events.filter((event) => /^(?:typed|text|key)/.test(event));
    assert.deepEqual(steps, draft === "" ? [] : ["typed", "key Enter"], "nothing is typed again");
  }
});

Deno.test("inject: what was typed is not submitted once another listener took over [ls-handover]", async () => {
  const pane = new FakePane();
  pane.onRecord = (step) => {
    if (step === "typed") queueMicrotask(() => pane.draw(undefined, { focus: "dialog" }));
  };
  pane.onPause = () => pane.stopping.abort(new TakenOver("another listener took over"));
  assert.deepEqual(await pane.inject("hello"), { state: "unknown", reason: "screen_stale", pane: "%3" });
  assert.ok(!pane.events.includes("left"));
});

Deno.test("inject: a clock that jumps neither ends nor prolongs the wait for a confirmation [fault-clock]", async () => {
  for (const aheadMs of [3_600_000, -86_400_000, 300 * 86_400_000]) {
    const pane = new FakePane();
    pane.onKey = (key) => {
      if (key !== "Enter") pane.draw("");
    };
    let pauses = 0;
    pane.onPause = () => {
      if (!pane.events.includes("key Enter")) return;
      if (++pauses === 2) pane.clock.jump(aheadMs);
      if (pauses === 5) pane.draw("");
    };
    assert.equal((await pane.inject("hello", { expiresAt: Infinity })).state, "submitted", `${aheadMs}`);
    const lost = new FakePane();
    let hasJumped = false;
    lost.onKey = (key) => {
      if (key !== "Enter") lost.draw("");
    };
    lost.onPause = () => {
      if (count(lost, "key Enter") !== 1 || hasJumped) return;
      hasJumped = true;
      lost.clock.jump(aheadMs);
    };
    const { state, reason } = await lost.inject("hello", { expiresAt: Infinity });
    assert.deepEqual([state, reason], ["refused", "not_submitted"]);
    assert.ok(lost.clock.elapsed() < 2 * CONFIRM_LIMIT_MS, `${lost.clock.elapsed()}`);
  }
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
  const failure = "can't find pane: %3";
  assert.deepEqual(await pane.inject("hello"), {
    state: "refused",
    reason: "pane_dead",
    failure,
    pane: "%3",
  });
  assert.deepEqual(pane.events.filter((event) => event.startsWith("marker")), [
    ...["marker written", "marker withdrawn"],
    ...["marker written", "marker withdrawn"],
  ]);
});

Deno.test("inject: a text whose Enter the local user pressed before svc held it is submitted [inj-marker-back]", async () => {
  const pane = new FakePane();
  pane.onRecord = (step) => {
    if (step === "typed") queueMicrotask(() => pane.draw(undefined, { focus: "dialog" }));
  };
  pane.onWithdraw = () => void (pane.isTaken = true);
  assert.equal((await pane.inject("hello")).state, "submitted");
  assert.equal(count(pane, "key Enter"), 0);
});

Deno.test("inject: while the host's files cannot be written a message waits, with nothing typed and no marker left [inj-marker-back, inj-full-disk, fault-disk]", async () => {
  for (const failing of ["typing", "marker"]) {
    const pane = new FakePane();
    const full = new Error("No space left on device");
    let isFull = true;
    pane.onRecord = (step) => {
      if (step === failing && isFull) throw full;
    };
    if (failing === "marker") pane.markerFailure = full;
    let pauses = 0;
    pane.onPause = () => {
      if (++pauses !== 3) return;
      assert.ok(!pane.events.includes("text hello"), failing);
      assert.equal(count(pane, "marker written"), count(pane, "marker withdrawn"));
      assert.ok(pane.events.includes("reported held host_files"));
      isFull = false;
      pane.markerFailure = undefined;
    };
    assert.equal((await pane.inject("hello")).state, "submitted", failing);
    assert.equal(count(pane, "text hello"), 1);
  }
});

Deno.test("inject: a disk that fills up once the text is typed changes nothing [inj-journal, fault-disk]", async () => {
  const pane = new FakePane();
  pane.onRecord = (step) => {
    if (step === "typed") throw new Error("No space left on device");
  };
  assert.equal((await pane.inject("hello")).state, "submitted");
  assert.equal(count(pane, "text hello"), 1);
});

Deno.test("inject: a text typed just before tmux became unreachable is removed before the next message [inj-take-back]", async () => {
  const pane = new FakePane();
  pane.onRecord = (step) => {
    if (step === "typed") pane.failure = new TmuxError("tmux ended the control client", { lost: true });
  };
  const failure = "tmux ended the control client";
  assert.deepEqual(await pane.inject("hello"), {
    ...{ state: "refused", reason: "tmux_failed", pane: "%3" },
    failure,
  });
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

Deno.test("inject: a text that the composer no longer shows is not searched for there later [inj-take-back]", async () => {
  const pane = new FakePane();
  await injectUnconfirmed(pane, "the local user's own");
  pane.draw("hello");
  assert.deepEqual(await pane.inject("second"), { state: "refused", reason: "desk_busy", pane: "%3" });
  assert.ok(!pane.events.includes("key C-u"), "the local user has typed the same text");
});

Deno.test("inject: while another screen holds a message, tmux does not search the screen for a dialog, but does before typing [read-linear, inj-pessimistic]", async () => {
  const pane = new FakePane();
  pane.transcript = [DIALOG_LINE];
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
    // One frame without a composer, then the draft again, then another screen that stays.
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

Deno.test("inject: an Enter that an agent without a gate has lost is pressed once more, if the agent cannot be in a turn [inj-enter-twice]", async () => {
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

Deno.test("inject: Enter does not submit the rest that a phone has left of a held text [inj-hidden]", async () => {
  const rest = "/plugin marketplace add evil/market";
  const tall = "a line of the message\n".repeat(6).trimEnd();
  const left = [
    { body: `x ${rest}`, draft: rest },
    { body: `😀${rest}`, draft: rest },
    { body: tall, draft: tall.slice(tall.indexOf("\n") + 1) },
  ];
  for (const { body, draft } of left) {
    const pane = new FakePane();
    pane.onText = () => pane.draw(undefined);
    pane.onPause = (ms) => {
      if (ms < HOLD_STEP_MS) return;
      pane.input.model.isSinceMessage = true;
      pane.draw(draft);
    };
    const { state } = await pane.inject(body);
    assert.equal(count(pane, "key Enter"), 0, draft);
    assert.notEqual(state, "submitted");
  }
});

Deno.test("inject: a held text is submitted once it shows, even if only its end does and no phone has typed since [inj-composer-only]", async () => {
  const tall = "a line of the message\n".repeat(6).trimEnd();
  for (const [body, draft] of [["hello", "hello"], [tall, tall.slice(tall.indexOf("\n") + 1)]] as const) {
    const pane = new FakePane();
    pane.onText = () => pane.draw(undefined);
    pane.onPause = (ms) => {
      if (ms >= HOLD_STEP_MS) pane.draw(draft);
    };
    assert.equal((await pane.inject(body)).state, "submitted", draft);
  }
});

Deno.test("inject: a message that was held while its project was muted is not typed, and one that was typed is removed [inj-muted]", async () => {
  for (const at of ["before", "after"]) {
    const pane = new FakePane();
    if (at === "before") pane.draw(undefined, { focus: "dialog" });
    pane.onRecord = (step) => {
      if (step === "typed") queueMicrotask(() => pane.draw(undefined, { focus: "dialog" }));
    };
    pane.onPause = () => {
      if (pane.reading.focus !== "dialog") return;
      pane.isMuted = true;
      pane.draw(at === "before" ? "" : "hello");
    };
    assert.deepEqual(await pane.inject("hello"), { state: "refused", reason: "muted", pane: "%3" }, at);
    assert.ok(!pane.events.includes("key Enter"), at);
    assert.equal(pane.events.includes("text hello"), at === "after");
  }
});

Deno.test("inject: a text whose project was muted during a tool call is removed once the call has ended [inj-muted]", async () => {
  const pane = new FakePane({ gate: { afterEnterMs: 0 } }).gated();
  const report = { agent: "cc", cwd: "/p", session: "svc-p", gates: true } as const;
  pane.onRecord = (step) => {
    if (step !== "typed") return;
    void pane.inputs.toolBegins({ ...report, event: "PreToolUse" });
    queueMicrotask(() => pane.draw(undefined, { focus: "dialog" }));
  };
  let looks = 0;
  pane.onPause = () => {
    if (pane.reading.focus === "dialog") {
      pane.isMuted = true;
      pane.draw("hello");
    } else if (pane.isMuted && ++looks === 5) pane.inputs.hook({ ...report, event: "PostToolUse" });
  };
  assert.deepEqual(await pane.inject("hello"), { state: "refused", reason: "muted", pane: "%3" });
  assert.equal(pane.reading.draft, "");
  assert.ok(!pane.events.includes("key Enter"));
});

Deno.test("inject: an agent started in place of another program, or by a launcher, gets nothing by that program's rules [read-unrecorded, inj-composer-only]", async () => {
  for (const argv of [["claude"], ["caffeinate", "-i", "claude"]]) {
    const pane = new FakePane({ recordedPid: 0, isProfiled: false });
    pane.program = { ...pane.program, foreground: "2.1.329", argv, hasAgent: true };
    assert.deepEqual(await pane.inject("hello"), { state: "refused", reason: "unknown_screen", pane: "%3" });
    const pressed = await pane.press({ type: "key", key: "BTab" });
    assert.deepEqual({ ...pressed }, { state: "refused", reason: "unknown_screen" });
    assert.deepEqual(pane.events, []);
  }
});

for (
  const [what, draft] of [["an editor is open", undefined], ["somebody has begun a draft", "/clear"]] as const
) {
  Deno.test(`inject: where ${what} once a stalled disk has the journal's step, nothing is typed`, async () => {
    const pane = new FakePane();
    pane.onRecord = (step) => {
      if (step !== "typing") return;
      pane.clock.advance(5_000);
      pane.draw(draft);
    };
    pane.onPause = () => {
      pane.onRecord = () => {};
      pane.draw("");
    };
    assert.equal((await pane.inject("hello")).state, "submitted");
    const steps = pane.events.filter((event) => /^(?:typing|accepted|text|key|marker)/.test(event));
    const at = (event: string): number => steps.findIndex((one) => one.startsWith(event));
    assert.ok(at("accepted") !== -1 && at("accepted") < at("text"), steps.join(", "));
    assert.equal(steps.filter((step) => step === "text hello").length, 1);
  });
}

Deno.test("inject: if an editor has opened while tmux stalled on filling the buffer, nothing is typed into it", async () => {
  const pane = new FakePane();
  pane.onFill = async () => {
    for (let turns = 0; turns < 100; turns++) await Promise.resolve();
    pane.clock.advance(5_000);
    pane.draw(undefined);
  };
  pane.onPause = () => {
    pane.onFill = undefined;
    pane.draw("");
  };
  assert.equal((await pane.inject("hello")).state, "submitted");
  assert.equal(count(pane, "text hello"), 1);
  assert.ok(pane.events.indexOf("accepted") < pane.events.indexOf("text hello"), pane.events.join(", "));
  assert.ok(pane.events.includes("accepted"), pane.events.join(", "));
});

Deno.test("inject: a disk that is slow every time does not keep a message from being typed", async () => {
  const pane = new FakePane();
  pane.onRecord = () => pane.clock.advance(1_000);
  assert.equal((await pane.inject("hello")).state, "submitted");
  assert.equal(count(pane, "text hello"), 1);
});

Deno.test("inject: a late answer is typed for the run of the agent that asked, and for no other [mcp-late]", async () => {
  const pane = new FakePane();
  const other = await pane.inject("to another", { run: `${pane.target.run}1` });
  assert.deepEqual([other, pane.events], [{ state: "refused", reason: "session_changed" }, []]);
  assert.equal((await pane.inject("to this one", { run: pane.target.run })).state, "submitted");
});

Deno.test("inject: a message held for an agent in a user's own session is not typed into another process with its pane's id, as after a restart of tmux [inj-exact]", async () => {
  const shell = { hasAgent: false, shellBelow: true };
  const programs = [
    { isProfiled: true, program: { ...shell, foreground: "claude", argv: ["claude"] } },
    { isProfiled: false, program: { ...shell, foreground: "app", argv: ["app"], shellBelow: false } },
  ];
  for (const { isProfiled, program } of programs) {
    const pane = new FakePane({ recordedPid: 0, isProfiled });
    if (isProfiled) pane.target.profile.kind = "cc";
    pane.program = program;
    pane.draw(undefined, { focus: "dialog" });
    pane.onPause = () => {
      pane.pid = 8;
      pane.draw("");
    };
    assert.deepEqual(await pane.inject("hello"), { state: "refused", reason: "unknown_screen", pane: "%3" });
    assert.deepEqual(pane.events, ["reported held dialog_open"]);
  }
});

Deno.test("inject: a word that ends an agent is refused unless the host lets phones end agents, also behind a draft, and by keys [type-end]", async () => {
  for (
    const [draft, body] of [["", "exit"], ["", " Quit\n"], ["", ":q"], ["", ":wq!"], ["ex", "it"]] as const
  ) {
    const pane = new FakePane();
    pane.draw(draft);
    const outcome = await pane.inject(body, { sendAnyway: true });
    assert.deepEqual(outcome, { state: "refused", reason: "end_not_allowed", pane: "%3" }, draft + body);
    assert.deepEqual(pane.events, []);
    pane.draw("exit");
    pane.input.confirmCalm();
    assert.deepEqual(await pane.press({ type: "key", key: "Enter" }), {
      state: "refused",
      reason: "end_not_allowed",
    });
  }
  const text = new FakePane();
  assert.equal((await text.inject("exit the loop early")).state, "submitted");
  const allowing = new FakePane();
  allowing.policy = { ...DEFAULT_POLICY, allowAgentEnd: true };
  assert.equal((await allowing.inject("exit")).state, "submitted");
});
