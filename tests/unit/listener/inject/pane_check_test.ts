/** When a message waits, depending on a check of its pane, and when tmux searches the pane for a dialog. */
import assert from "node:assert/strict";
import type { ScreenReading } from "../../../../src/agents/profile.ts";
import { agentProfile } from "../../../../src/agents/profiles.ts";
import { type HoldContext, holdReason, localViewOf } from "../../../../src/listener/inject/pane_check.ts";
import type { Observation } from "../../../../src/listener/inject/pane_check.ts";
import { DEFAULT_POLICY, DIALOG_LINE, FakePane } from "../../../helpers/fake_pane.ts";

const idle: ScreenReading = { state: "idle", focus: "composer", draft: "" };

function seen(reading: Partial<ScreenReading>, localUserActivity = 0): Observation {
  return {
    facts: { dead: false, inputOff: false, synchronized: false, pid: 1, command: "claude" },
    screen: { lines: [], title: "", cursor: { x: 0, y: 0, visible: true } },
    reading: { ...idle, ...reading },
    dialogRow: 0,
    directory: "/p",
    localUserActivity,
    created: 90,
  };
}

const KEYS_OF_NOBODY = { isFromPhone: false, keyAt: 0 };

const INPUT: HoldContext["input"] = {
  isGated: () => false,
  isIdle: ({ state }) => state === "idle",
  isInCall: false,
  model: KEYS_OF_NOBODY,
};

const reason = (what: Observation, change: Partial<HoldContext> = {}) =>
  holdReason(what, {
    recordedPid: 1,
    profile: agentProfile("cc"),
    isProfiled: true,
    input: INPUT,
    now: 100_000,
    sendAnyway: false,
    policy: DEFAULT_POLICY,
    ...change,
  });

Deno.test("hold: a dialog holds unless the host lets phones answer it [inj-dialog, inj-dialog-allowed, auth-permission]", () => {
  const dialog = seen({ focus: "dialog", draft: undefined, state: "waiting" });
  assert.equal(reason(dialog), "dialog_open");
  assert.equal(reason(dialog, { sendAnyway: true }), "dialog_open");
  assert.equal(reason(dialog, { policy: { ...DEFAULT_POLICY, approval: "reject" } }), "dialog_open");
  assert.equal(reason(dialog, { policy: { ...DEFAULT_POLICY, approval: "once" } }), undefined);
});

Deno.test("hold: a key of the local user within two seconds, or a draft, holds; sendAnyway ignores both [inj-local-user, inj-draft, inj-send-anyway]", () => {
  assert.equal(reason(seen({}, 99)), "desk_busy");
  assert.equal(reason(seen({}, 98)), undefined);
  assert.equal(reason(seen({ draft: "half a" })), "desk_busy");
  assert.equal(reason(seen({ draft: "half a" }, 99), { sendAnyway: true }), undefined);
});

Deno.test("hold: a message waits until Enter has had its effect if the agent then opens another view [inj-turn]", () => {
  const gated = { isGated: () => true, isIdle: () => false };
  const input = { ...INPUT, ...gated };
  const profile = agentProfile("opencode");
  assert.equal(reason(seen({}), { profile, input }), "agent_working");
  assert.equal(reason(seen({}), { input }), undefined);
  assert.equal(reason(seen({ state: "working" }), { profile, input }), undefined, "it queues the message");
  assert.equal(reason(seen({}), { profile, input: { ...INPUT, isGated: () => true } }), undefined);
});

Deno.test("hold: no message becomes part of a command in the composer, even with sendAnyway [inj-send-anyway, inj-approval-command]", () => {
  for (const draft of ["/allow-al", "  /add-dir ", "\u200b/permissions", "!rm", "\u200b!rm"]) {
    assert.equal(reason(seen({ draft }), { sendAnyway: true }), "desk_busy", JSON.stringify(draft));
  }
  const folded = "[Pasted text #1 +12 lines]";
  for (const draft of [folded, `see ${folded}`]) {
    assert.equal(reason(seen({ draft }), { sendAnyway: true }), "desk_busy", "it may hide a command");
  }
  const input = { ...INPUT, model: { isFromPhone: true, keyAt: 99_500 } };
  assert.equal(reason(seen({ draft: "/mod" }, 99), { sendAnyway: true, input }), "phone_draft");
  const policy = { ...DEFAULT_POLICY, allowApprovalChange: true };
  assert.equal(reason(seen({ draft: "/allow-al" }), { sendAnyway: true, policy }), undefined);
});

Deno.test("hold: only a recognized composer gets text, even with sendAnyway [inj-composer-only]", () => {
  const old = { now: 200_000, sendAnyway: true };
  for (const focus of ["menu", "unknown"] as const) {
    const other = seen({ focus, draft: undefined });
    assert.equal(reason(other, old), "unknown_screen", focus);
    assert.equal(
      reason(other, { ...old, policy: { ...DEFAULT_POLICY, allowUnknownScreens: true } }),
      undefined,
    );
  }
  const blank = seen({ state: undefined, focus: "unknown", draft: undefined });
  assert.equal(reason(blank), "agent_starting");
  assert.equal(reason(blank, { now: 151_000 }), "unknown_screen");
  assert.equal(reason(blank, { input: { ...INPUT, isInCall: true } }), "unknown_screen", "it calls a tool");
  assert.equal(reason(blank, { isProfiled: false }), undefined, "a pane of no known agent");
});

Deno.test("hold: nothing is typed after a ! in the composer, even with sendAnyway [inj-shell-escape]", () => {
  assert.equal(reason(seen({ draft: "!" }), { sendAnyway: true }), "desk_busy");
});

Deno.test("hold: nothing is typed after a draft whose beginning may be out of sight, even with sendAnyway [inj-shell-escape, inj-approval-command]", () => {
  for (const draft of [{ draft: "the end of it", cut: true }, { draft: "1\n2\n3\n4\n5" }] as const) {
    assert.equal(reason(seen(draft), { sendAnyway: true }), "desk_busy");
  }
  assert.equal(reason(seen({ draft: "1\n2\n3\n4" }), { sendAnyway: true }), undefined);
});

Deno.test("hold: while the agent works a message waits, unless hooks hold its dialogs back or the host steers [inj-turn]", () => {
  const working = seen({ state: "working" });
  assert.equal(reason(working), "agent_working");
  assert.equal(reason(working, { sendAnyway: true }), "agent_working");
  assert.equal(reason(seen({ state: undefined })), "agent_working", "nobody knows");
  assert.equal(
    reason(working, { input: { ...INPUT, isGated: () => true, isIdle: () => false } }),
    undefined,
  );
  assert.equal(reason(working, { policy: { ...DEFAULT_POLICY, steer: true } }), undefined);
  assert.equal(reason(working, { isProfiled: false }), undefined);
});

Deno.test("hold: a draft that was typed from a phone is called so, until someone types at the computer [inj-phone-draft]", () => {
  const input = { ...INPUT, isIdle: () => true, model: { isFromPhone: true, keyAt: 90_000 } };
  const draft = seen({ draft: "begun on the phone" });
  assert.equal(reason(draft, { input }), "phone_draft");
  assert.equal(reason(draft, { input, sendAnyway: true }), undefined);
  assert.equal(reason(seen({ draft: "begun on the phone" }, 95), { input }), "desk_busy");
  assert.equal(reason(seen({}), { input }), undefined);
});

Deno.test("an agent that was interrupted counts as idle, although its screen shows it at work until its hook ends [card-local]", () => {
  const working = { state: "working" } as const;
  assert.deepEqual(localViewOf(seen({ ...working, interrupted: true }, 99)), {
    lastKeyAt: 99_000,
    hasDialog: false,
    state: "idle",
  });
  assert.equal(localViewOf(seen(working)).state, "working");
});

Deno.test("tmux searches a pane for a dialog only if the screen shows a dialog's line, or the guard was false before [inj-pessimistic]", async () => {
  const plain = new FakePane();
  assert.equal((await plain.inject("hello")).state, "submitted");
  assert.equal(plain.searches, 0);

  const alike = new FakePane();
  // Far above the composer, too: tmux searches the whole screen.
  alike.transcript = [DIALOG_LINE, ...Array<string>(30).fill("text")];
  assert.equal((await alike.inject("hello")).state, "submitted");
  assert.ok(alike.searches > 0);

  // tmux finds a dialog's line that the captured text does not show.
  const refusing = new FakePane();
  let enters = 0;
  const press = refusing.onKey;
  refusing.onKey = (key) => {
    if (key !== "Enter") return press(key);
    enters++;
    return refusing.searches > 0 ? press(key) : false;
  };
  assert.equal((await refusing.inject("hello")).state, "submitted");
  assert.equal(enters, 2);

  // It found none, so that it need not search again.
  refusing.searches = 0;
  refusing.onKey = press;
  assert.equal((await refusing.inject("again")).state, "submitted");
  assert.equal(refusing.searches, 0);
});
