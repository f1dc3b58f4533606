/** A text that waits in the composer for Enter when its message is cancelled or its phone revoked. */
import assert from "node:assert/strict";
import {
  type Outcome,
  refused,
  Stopping,
  TakenOver,
  type Turn,
} from "../../../../src/listener/inject/context.ts";
import { say } from "../../../../scripts/say.ts";
import { EXPIRED_HOLD_MS } from "../../../../src/listener/inject/message_text.ts";
import { TmuxError } from "../../../../src/tmux/server.ts";
import { FakePane } from "../../../helpers/fake_pane.ts";

const ENDS: readonly Outcome[] = [refused("unsealable"), { state: "withdrawn" }];

/** Opens a dialog before Enter; calls `whileOpen` once the text is held, and then closes the dialog. */
function holdText(
  whileOpen: (held: { pane: FakePane; turn: Turn }) => void,
  { draft = "", ...command }: { draft?: string; sendAnyway?: boolean } = {},
): { pane: FakePane; turn: Turn; outcome: Promise<Outcome> } {
  const pane = new FakePane();
  const turn: Turn = { step: "waiting" };
  pane.draw(draft);
  pane.onText = () => pane.draw(undefined, { focus: "dialog" });
  let isDone = false;
  pane.onPause = () => {
    if (isDone || !pane.events.includes("reported held dialog_open")) return;
    isDone = true;
    pane.draw(`${draft}hello`);
    whileOpen({ pane, turn });
  };
  return { pane, turn, outcome: pane.inject("hello", { turn, ...command }) };
}

const keys = ({ events }: FakePane): string[] => events.filter((event) => event.startsWith("key"));

Deno.test("held text: it is removed once its message is cancelled or its phone revoked, and Enter is not pressed [inj-take-back, cancel-atomic, sec-revoke-waiting]", async () => {
  for (const end of ENDS) {
    const { pane, outcome } = holdText(({ turn }) => {
      assert.equal(turn.step, "held");
      turn.takeBack = end;
    });
    assert.deepEqual(await outcome, { ...end, pane: "%3" });
    assert.deepEqual(keys(pane), ["key C-u"]);
    assert.equal(pane.input.leftBehind, undefined);
  }
});

Deno.test("held text: it counts as being typed again once Enter may be pressed [cancel-atomic]", async () => {
  const { pane, turn, outcome } = holdText(() => {});
  pane.onKey = () => {
    assert.equal(turn.step, "typing");
    pane.draw("");
  };
  assert.equal((await outcome).state, "submitted");
  assert.deepEqual(keys(pane), ["key Enter"]);
});

Deno.test("held text: a hanging agent is waited for; if it shows the text for too long, the message is unknown, and the next message removes it [inj-take-back, sec-revoke-waiting]", async () => {
  for (const wakes of [true, false]) {
    let heldAt = 0;
    const { pane, outcome } = holdText(({ pane, turn }) => {
      turn.takeBack = refused("unsealable");
      pane.onKey = () => {};
      heldAt = pane.clock.elapsed();
      pane.onPause = () => {
        if (wakes && pane.clock.elapsed() - heldAt > EXPIRED_HOLD_MS / 2) pane.draw("");
      };
    });
    const { state, reason } = await outcome;
    assert.deepEqual([state, reason], wakes ? ["refused", "unsealable"] : ["unknown", "screen_stale"]);
    assert.ok(pane.clock.elapsed() - heldAt < EXPIRED_HOLD_MS + 5_000);
    assert.ok(!keys(pane).includes("key Enter"));
    assert.equal(pane.input.leftBehind?.text, wakes ? undefined : "hello");
  }
});

Deno.test("held text: a cancelled message whose text went into the dialog delays the next one no longer than others [inj-take-back, cancel-atomic]", async () => {
  const waited = await Promise.all([undefined, { state: "withdrawn" } as const].map(async (end) => {
    let heldAt = 0;
    const { pane, outcome } = holdText(({ pane, turn }) => {
      pane.draw("");
      if (end !== undefined) turn.takeBack = end;
      heldAt = pane.clock.elapsed();
    });
    assert.equal((await outcome).state, "unknown");
    return pane.clock.elapsed() - heldAt;
  }));
  assert.equal(waited[1], waited[0]);
});

Deno.test("held text: whenever a message is cancelled, either the cancellation is refused or Enter is not pressed afterwards [cancel-atomic, inj-take-back]", async () => {
  const found = { accepted: 0, refused: 0 };
  for (let moment = 0;; moment++) {
    let [left, isAccepted, enters, looks] = [moment, false, 0, 0];
    const pane = new FakePane();
    const turn: Turn = { step: "waiting" };
    // Acts like PushIntake.
    const step = (): void => {
      if (left-- !== 0) return;
      isAccepted = ["waiting", "held"].includes(turn.step);
      if (!isAccepted) return;
      if (turn.step === "waiting") turn.step = "withdrawn";
      else turn.takeBack = { state: "withdrawn" };
      enters = keys(pane).filter((key) => key === "key Enter").length;
    };
    const openDialog = (): void => pane.draw(undefined, { focus: "dialog" });
    openDialog();
    pane.onText = openDialog;
    pane.onRecord = step;
    // A dialog is open before the text is typed, and another before Enter.
    pane.onPause = () => {
      step();
      looks++;
      if (looks === 5) pane.draw("");
      else if (looks === 10) pane.draw("hello");
    };
    pane.onKey = () => {
      step();
      pane.draw("");
    };
    const { state } = await pane.inject("hello", { turn });
    if (left >= 0) break;
    found[isAccepted ? "accepted" : "refused"]++;
    if (isAccepted) {
      assert.equal(state, "withdrawn", `cancelled at moment ${moment}`);
      assert.equal(keys(pane).filter((key) => key === "key Enter").length, enters);
    } else assert.equal(state, "submitted", `cancelled at moment ${moment}`);
  }
  say(`cancelled at ${found.accepted + found.refused} moments: ${found.accepted} accepted`);
  assert.ok(found.accepted > 0 && found.refused > 0);
});

Deno.test("held text: Enter is also not pressed if the phone is revoked while the marker is written [sec-revoke-waiting]", async () => {
  const { pane, outcome } = holdText(({ pane, turn }) => {
    // This is read when the marker is written again.
    Object.defineProperty(pane, "markerFailure", {
      get: () => void (turn.takeBack = refused("unsealable")),
    });
  });
  assert.deepEqual(await outcome, { ...refused("unsealable"), pane: "%3" });
  assert.deepEqual(keys(pane), ["key C-u"]);
  assert.equal(pane.events.filter((event) => event === "marker withdrawn").length, 2);
});

Deno.test("held text: a lost Enter is not pressed again once the phone is revoked; the text is removed [inj-enter-twice, sec-revoke-waiting]", async () => {
  const pane = new FakePane();
  const turn: Turn = { step: "waiting" };
  pane.onKey = (key) => {
    turn.takeBack = refused("unsealable");
    if (key === "C-u") pane.draw("");
  };
  assert.deepEqual(await pane.inject("hello", { turn }), { ...refused("not_submitted"), pane: "%3" });
  assert.deepEqual(keys(pane), ["key Enter", "key C-u"]);
});

Deno.test("held text: after the local user's draft it cannot be removed, so it is not cancelled; a revoked phone's text gets no Enter [cancel-atomic, sec-revoke-waiting]", async () => {
  const { pane, outcome } = holdText(({ turn }) => {
    assert.equal(turn.step, "typing");
    turn.takeBack = refused("unsealable");
  }, { draft: "and ", sendAnyway: true });
  assert.equal((await outcome).state, "unknown");
  assert.deepEqual(keys(pane), []);
});

Deno.test("held text: during a tool call it waits for the end of the call [inj-take-back, cancel-atomic]", async () => {
  const report = { event: "PreToolUse", agent: "cc", cwd: "/p", session: "svc-p", gates: true };
  const { pane, outcome } = holdText(({ pane, turn }) => {
    turn.takeBack = { state: "withdrawn" };
    void pane.inputs.toolBegins({ ...report, tool: { step: "before", id: "1" } });
    const until = pane.clock.elapsed() + 3_000;
    pane.onPause = () => {
      if (pane.clock.elapsed() < until) return assert.deepEqual(keys(pane), []);
      pane.inputs.hook({ ...report, tool: { step: "after", id: "1" } });
    };
  });
  assert.equal((await outcome).state, "withdrawn");
  assert.deepEqual(keys(pane), ["key C-u"]);
});

Deno.test("held text: the next listener does not submit a text that was to be removed [inj-stop, cancel-atomic, sec-revoke-waiting]", async () => {
  for (const end of ENDS) {
    const { pane, outcome } = holdText(({ pane, turn }) => {
      turn.takeBack = end;
      pane.draw(undefined, { focus: "dialog" });
      pane.stopping.abort(new Stopping("the daemon stops"));
    });
    await assert.rejects(outcome, Stopping);
    assert.ok(!pane.events.includes("left"), "it would press Enter");
    assert.ok(pane.events.includes("typed"), "it removes the text");
  }
});

Deno.test("held text: a revoked phone's message that tmux refused to type is not typed again [sec-revoke-waiting]", async () => {
  const pane = new FakePane();
  const turn: Turn = { step: "waiting" };
  const end = refused("unsealable");
  pane.onRecord = (step) => {
    if (step === "typing") turn.takeBack = end;
  };
  pane.markerFailure = new Error("No space left on device");
  assert.deepEqual(await pane.inject("hello", { turn }), { ...end, pane: "%3" });
  assert.ok(!pane.events.some((event) => event.startsWith("text")));
});

Deno.test("held text: once another listener took over, which gets the message too, nothing is typed and nothing submitted, however long the disk took [inj-journal]", async () => {
  const early = new FakePane();
  early.onRecord = (step) => {
    if (step === "typing") early.stopping.abort(new TakenOver("another listener took over"));
  };
  await assert.rejects(early.inject("hello"), TakenOver);
  assert.deepEqual(early.events.filter((event) => /^(?:text|key|reported)/.test(event)), []);
  const late = new FakePane();
  late.onText = () => late.stopping.abort(new TakenOver("another listener took over"));
  assert.deepEqual(await late.inject("hello"), { state: "unknown", reason: "screen_stale", pane: "%3" });
  assert.deepEqual(keys(late), []);
});

Deno.test("inject: a text that the local user submitted right before the pane ended is submitted [inj-marker-back]", async () => {
  const pane = new FakePane();
  pane.onKey = () => {
    pane.isTaken = true;
    throw new TmuxError("can't find pane: %3");
  };
  assert.equal((await pane.inject("hello")).state, "submitted");
});
