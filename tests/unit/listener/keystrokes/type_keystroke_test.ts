/** What one keystroke waits for after it was typed, and what it reports if that is unknown. */
import assert from "node:assert/strict";
import type { ScreenReading } from "../../../../src/agents/profile.ts";
import type { Keystroke } from "../../../../src/listener/keystrokes/keystroke_rules.ts";
import type { KeystrokeOutcome } from "../../../../src/listener/keystrokes/type_keystroke.ts";
import { GATE_HOLD_MS } from "../../../../src/listener/inject/pane_input.ts";
import { TmuxError } from "../../../../src/tmux/server.ts";
import { DEFAULT_POLICY, FakePane } from "../../../helpers/fake_pane.ts";

const ENTER = { type: "key", key: "Enter" } as const;
const AFTER_ENTER_MS = 200;

/** Presses a key with this draft in the composer; returns the time it took. */
async function pressAt(
  pane: FakePane,
  { draft, key = "Enter" }: { draft: string; key?: string },
): Promise<number> {
  pane.draw(draft);
  const start = pane.clock.now();
  assert.deepEqual(await pane.press({ type: "key", key }), { state: "typed" });
  return pane.clock.now() - start;
}

Deno.test("keystroke: if phones may only reject dialogs, nothing else reaches a dialog of an unknown agent [inj-dialog-allowed]", async () => {
  const inputs: Keystroke[] = [
    ENTER,
    { type: "key", key: "y" },
    { type: "text", text: "1" },
    { type: "paste", text: "yes" },
    { type: "key", key: "Escape" },
    { type: "key", key: "C-c" },
  ];
  for (const approval of ["none", "reject", "once"] as const) {
    const typed: boolean[] = [];
    for (const input of inputs) {
      const pane = new FakePane({ recordedPid: 0, isProfiled: false });
      pane.policy = { ...DEFAULT_POLICY, approval };
      pane.reading = { state: "waiting", focus: "dialog", draft: undefined };
      const outcome = await pane.press(input);
      assert.ok(outcome.state === "typed" || ("reason" in outcome && outcome.reason === "dialog_open"));
      typed.push(outcome.state === "typed");
    }
    const rejects = [false, false, false, false, true, true];
    assert.deepEqual(typed, approval === "reject" ? rejects : typed.map(() => approval === "once"), approval);
  }
});

const gatedPane = (): FakePane => new FakePane({ gate: { afterEnterMs: AFTER_ENTER_MS } }).gated();

Deno.test("keystroke: Enter keeps dialogs back until the agent has read it [inj-gate]", async () => {
  const pane = gatedPane();
  pane.isBusy = true;
  pane.onKey = () => {};
  let left = 1_000;
  pane.onPause = (ms) => {
    left -= ms;
    if (left <= 0) pane.draw("");
  };
  const took = await pressAt(pane, { draft: "hello" });
  assert.ok(took >= 1_000 && took < GATE_HOLD_MS, `${took}`);
});

Deno.test("keystroke: an Enter that leaves the draft unchanged holds dialogs back only until the agent's process is idle [inj-gate]", async () => {
  for (const isBusy of [false, true, undefined]) {
    const pane = gatedPane();
    pane.isBusy = isBusy;
    pane.onKey = () => {};
    const took = await pressAt(pane, { draft: "hello" });
    assert.ok(took >= AFTER_ENTER_MS, `${isBusy} ${took}`);
    assert.equal(took < GATE_HOLD_MS, isBusy === false, `${isBusy} ${took}`);
  }
});

Deno.test("keystroke: a key that may leave the draft unchanged, or a session without hooks, does not wait for the screen [inj-gate]", async () => {
  for (const key of ["M-Enter", "Tab"]) {
    const pane = gatedPane();
    pane.isBusy = true;
    pane.onKey = () => {};
    assert.equal(await pressAt(pane, { draft: "hello", key }), AFTER_ENTER_MS, key);
  }
  const pane = new FakePane({ gate: { afterEnterMs: AFTER_ENTER_MS } });
  pane.isBusy = true;
  pane.onKey = () => {};
  assert.equal(await pressAt(pane, { draft: "hello" }), AFTER_ENTER_MS);
  assert.equal(await pressAt(new FakePane(), { draft: "hello" }), 0);
});

Deno.test("keystroke: the inventory is read while the agent reads Enter", async () => {
  const pane = gatedPane();
  pane.onPause = () => void pane.events.push("pause");
  await pressAt(pane, { draft: "hello" });
  assert.deepEqual(pane.events.slice(0, 3), ["key Enter", "activity", "pause"]);
});

Deno.test("keystroke: a connection that is lost during a key leaves open whether it was typed [inj-lost]", async () => {
  const pane = new FakePane();
  pane.draw("hello");
  assert.deepEqual(await pane.press({ type: "text", text: "a" }), { state: "typed" });
  pane.draw("helloa");
  pane.onKey = () => {
    throw new TmuxError("tmux ended the control client", { lost: true });
  };
  assert.deepEqual(await pane.press(ENTER), { state: "unknown" });
  assert.deepEqual(pane.events, ["text a", "activity", "key Enter", "activity"]);
  assert.deepEqual([pane.input.model.isConfirmed, pane.input.model.expected], [false, undefined]);
  pane.onKey = () => {
    throw new TmuxError("can't find pane: %3");
  };
  assert.deepEqual(await pane.press({ type: "key", key: "Escape" }), {
    state: "refused",
    reason: "pane_dead",
  });
});

/** Returns the outcome of Enter after a message and this text, while the screen shows that draft. */
async function enterAfter(input: Keystroke, draft: string): Promise<KeystrokeOutcome> {
  const pane = gatedPane();
  assert.equal((await pane.inject("from the phone")).state, "submitted");
  assert.deepEqual(await pane.press(input), { state: "typed" });
  pane.draw(draft);
  const before = pane.events.length;
  const outcome = await pane.press(ENTER);
  assert.equal(pane.events.slice(before).includes("key Enter"), outcome.state === "typed");
  return outcome;
}

Deno.test("keystroke: Enter after a text waits for a screen that shows the text, however stable an older one is [inj-fresh-screen]", async () => {
  const text = { type: "text", text: "/editor" } as const;
  const paste = { ...text, type: "paste" } as const;
  const stale = { state: "refused", reason: "screen_stale" };
  assert.deepEqual(await enterAfter(text, ""), stale);
  assert.deepEqual(await enterAfter(text, "hello"), stale);
  assert.deepEqual(await enterAfter(paste, ""), stale);
  assert.deepEqual(await enterAfter(text, "/editor"), { state: "refused", reason: "approval_change" });
  assert.deepEqual(await enterAfter(text, "see /editor"), { state: "typed" });
  assert.deepEqual(await enterAfter({ ...paste, text: "see this" }, "[Pasted text #1]"), { state: "typed" });
});

Deno.test("keystroke: Enter is held while the screen is half drawn, and refused once a dialog has opened [inj-fresh-screen]", async () => {
  const screens: [string, Partial<ScreenReading>, KeystrokeOutcome][] = [
    ["half drawn", {}, { state: "held", reason: "unknown_screen" }],
    ["a dialog", { focus: "dialog" }, { state: "refused", reason: "screen_stale" }],
  ];
  for (const [what, next, expected] of screens) {
    const pane = gatedPane();
    assert.deepEqual(await pane.press({ type: "text", text: "hello" }), { state: "typed" });
    pane.draw("hel");
    pane.onPause = () => pane.draw(undefined, next);
    assert.deepEqual(await pane.press(ENTER), expected, what);
    assert.ok(!pane.events.includes("key Enter"), what);
    pane.draw("hello");
    assert.deepEqual(await pane.press(ENTER), { state: "typed" }, what);
  }
});

Deno.test("keystroke: a key that would be typed over a half-drawn screen without a check of the draft is refused instead of held [inj-fresh-screen]", async () => {
  const cases: [string, Keystroke, boolean][] = [
    ["Left, which in an empty composer opens another view", { type: "key", key: "Left" }, false],
    ["Enter, where unknown screens are allowed", ENTER, true],
  ];
  for (const [what, key, allowUnknownScreens] of cases) {
    const pane = gatedPane();
    pane.policy = { ...DEFAULT_POLICY, allowUnknownScreens };
    pane.target.profile.keys = { ...pane.target.profile.keys, forbiddenWhenEmpty: ["Left"] };
    await pane.press({ type: "key", key: "C-u" });
    pane.draw("hel");
    pane.onPause = () => pane.draw(undefined);
    assert.deepEqual(await pane.press(key), { state: "refused", reason: "screen_stale" }, what);
  }
});

Deno.test("keystroke: after a Ctrl-C that may end an agent started in a shell, nothing is typed until the agent's process is idle [closed-unrecorded]", async () => {
  const text = { type: "text", text: "reboot" } as const;
  const control = { type: "key", key: "C-c" } as const;
  const shell = { state: "refused", reason: "screen_stale" } as const;
  for (const next of [text, { ...text, type: "paste" } as const]) {
    const pane = new FakePane({ recordedPid: 0 });
    pane.isBusy = true;
    assert.deepEqual(await pane.press(control), { state: "typed" });
    assert.deepEqual(await pane.press(control), { state: "typed" }, "an interrupt does not wait");
    assert.deepEqual(await pane.press(next), shell, "the agent ends, and its last screen still shows");
    pane.isBusy = false;
    assert.deepEqual(await pane.press(next), { state: "typed" });
  }
  const pane = new FakePane({ recordedPid: 0 });
  await pane.press(control);
  let pauses = 0;
  pane.onPause = () => void pauses++;
  assert.equal((await pane.inject("a\nb")).state, "submitted");
  assert.ok(pauses > 0, "the message waited");
  const own = new FakePane();
  own.isBusy = true;
  await own.press(control);
  assert.deepEqual(
    await own.press(text),
    { state: "typed" },
    "the pane of svc's own session ends with its agent",
  );
});

Deno.test("keystroke: a mirror that was opened while an agent ran types nothing into what the user starts after it, over the same shell [inj-guard-more]", async () => {
  const keys = ["Escape", "Up", "C-c"].map((key) => ({ type: "key", key }) as const);
  const inputs: Keystroke[] = [...keys, ENTER, { type: "text", text: "reboot" }];
  for (const input of inputs) {
    const pane = new FakePane({ recordedPid: 0 });
    pane.target.profile.kind = "cc";
    pane.program = { foreground: "claude", argv: ["claude"], hasAgent: false, shellBelow: true };
    assert.deepEqual(await pane.press(input), { state: "typed" });
    // The agent's last screen may still be visible.
    for (const draft of ["", undefined]) {
      pane.draw(draft);
      pane.program = { foreground: "deploy", argv: ["./deploy"], hasAgent: false, shellBelow: true };
      assert.notEqual((await pane.press(input)).state, "typed", JSON.stringify([input, draft]));
    }
  }
});

Deno.test("keystroke: a draft that live keys begin after a message counts as the phone's, and not as the computer's [inj-phone-draft]", async () => {
  const pane = new FakePane();
  pane.draw("");
  pane.input.forgetKeys();
  assert.deepEqual(await pane.press({ type: "text", text: "abc" }), { state: "typed" });
  pane.draw("abc");
  await pane.inject("the next one");
  assert.deepEqual(pane.events.filter((event) => event.startsWith("reported")), [
    "reported held phone_draft",
  ]);
  const other = new FakePane();
  other.draw("typed at the computer");
  other.input.forgetKeys();
  await other.press({ type: "text", text: "abc" });
  await other.inject("the next one");
  assert.deepEqual(other.events.filter((event) => event.startsWith("reported")), ["reported held desk_busy"]);
});

Deno.test("keystroke: one that a dialog held is not typed if someone has typed at the computer since, as the dialog was closed there [inj-dialog-keys]", async () => {
  const REFUSED = { state: "refused", reason: "desk_busy" };
  for (const isProfiled of [true, false]) {
    for (const input of [ENTER, { type: "text", text: "y" }] as const) {
      const press = async (seconds: number | undefined, dialogMs?: number): Promise<unknown> => {
        const pane = new FakePane(isProfiled ? {} : { recordedPid: 0, isProfiled });
        pane.draw(isProfiled ? "begun at the computer" : undefined);
        if (seconds !== undefined) {
          pane.localUserActivity = Math.floor(pane.clock.now() / 1_000) - seconds;
        }
        return await pane.press(input, { dialogMs });
      };
      assert.deepEqual(await press(1, 5_000), REFUSED);
      assert.deepEqual(await press(60, 5_000), { state: "typed" }, "long before the dialog");
      assert.deepEqual(await press(undefined, 5_000), { state: "typed" }, "nobody is there");
      assert.deepEqual(await press(1), { state: "typed" }, "no dialog held it");
    }
  }
});

Deno.test("keystroke: nothing is typed once it is too late, be it after the wait for a message or right before the key, and a paste leaves no buffer [inj-keys-late]", async () => {
  const message = Promise.withResolvers<void>();
  const behind = new FakePane();
  behind.draw("");
  let isOver = false;
  const first = behind.input.alone(() => message.promise);
  const key = behind.press({ type: "text", text: "late" }, { mayType: () => !isOver });
  isOver = true;
  message.resolve();
  await first;
  assert.deepEqual([await key, behind.events], [{ state: "late" }, []]);
  for (const input of [{ type: "text", text: "x" }, { type: "paste", text: "x" }] as const) {
    const pane = new FakePane();
    pane.draw("");
    const answers = [true, false];
    assert.deepEqual(await pane.press(input, { mayType: () => answers.shift() ?? false }), { state: "late" });
    assert.deepEqual([pane.events, pane.buffers], [[], []]);
  }
});

Deno.test("keystroke: a paste that a stalled tmux has had in a buffer for long goes in only if the screen is still the same [inj-unknown-keys]", async () => {
  const pane = new FakePane();
  const paste = { type: "paste", text: ":!reboot" } as const;
  pane.onFill = () => {
    pane.clock.advance(5_000);
    pane.draw(undefined);
    return Promise.resolve();
  };
  assert.deepEqual(await pane.press(paste), { state: "held", reason: "screen_stale" });
  assert.deepEqual([pane.events, pane.buffers], [[], []]);
  pane.onFill = undefined;
  assert.equal((await pane.press(paste)).state, "held", "an editor is open");
  pane.draw("");
  pane.onFill = () => Promise.resolve(pane.clock.advance(5_000));
  assert.deepEqual(await pane.press(paste), { state: "typed" }, "nothing has changed meanwhile");
});
