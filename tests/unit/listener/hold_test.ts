/** When a message waits or is refused, and what proves that it was submitted. */
import assert from "node:assert/strict";
import type { Screen, ScreenReading } from "../../../src/agents/profile.ts";
import { holdReason } from "../../../src/listener/hold.ts";
import type { Observation } from "../../../src/listener/observe.ts";
import {
  enterWasLost,
  PICTURES_AT_WORK,
  type ProofScreens,
  screenProves,
} from "../../../src/listener/prove.ts";

const idle: ScreenReading = { state: "idle", focus: "composer", draft: "" };
const options = { now: 100_000, recorded: true, sendAnyway: false, allowRemoteApproval: false };

function seen(reading: Partial<ScreenReading>, deskActivity = 0): Observation {
  return {
    pane: { dead: false, inputOff: false, synchronized: false, pid: 1, command: "claude" },
    screen: { lines: [], title: "", cursor: { x: 0, y: 0, visible: true } },
    reading: { ...idle, ...reading },
    dialogRow: 0,
    directory: "/p",
    deskActivity,
    created: 90,
  };
}

Deno.test("hold: a dialog holds unless the host allows remote approval [inj-dialog, inj-dialog-allowed, auth-permission]", () => {
  assert.equal(holdReason(seen({ focus: "dialog" }), options), "dialog_open");
  assert.equal(holdReason(seen({ focus: "dialog" }), { ...options, sendAnyway: true }), "dialog_open");
  assert.equal(holdReason(seen({ focus: "dialog" }), { ...options, allowRemoteApproval: true }), undefined);
});

Deno.test("hold: a key at the desk within two seconds, or a draft, holds; send anyway does not care [inj-desk, inj-desk-draft, inj-desk-anyway]", () => {
  assert.equal(holdReason(seen({}, 99), options), "desk_busy");
  assert.equal(holdReason(seen({}, 98), options), undefined);
  assert.equal(holdReason(seen({ draft: "half a" }), options), "desk_busy");
  assert.equal(holdReason(seen({ draft: "half a" }, 99), { ...options, sendAnyway: true }), undefined);
  assert.equal(holdReason(seen({ draft: undefined }), options), undefined);
});

Deno.test("hold: an agent that shows nothing yet gets nothing, whoever insists; later, or unknown to svc, it does", () => {
  const blank = seen({ state: undefined, draft: undefined });
  assert.equal(holdReason(blank, { ...options, sendAnyway: true }), "agent_starting");
  assert.equal(holdReason(blank, { ...options, now: 150_000 }), undefined);
  assert.equal(holdReason(blank, { ...options, recorded: false }), undefined);
  assert.equal(holdReason(seen({ state: "working", draft: undefined }), options), undefined);
});

Deno.test("hold: nothing is typed behind a ! in the input line, whoever insists [inj-shell-escape]", () => {
  assert.equal(holdReason(seen({ draft: "!" }), { ...options, sendAnyway: true }), "desk_busy");
});

const screen = (...lines: string[]): Screen => ({ lines, title: "", cursor: { x: 0, y: 0, visible: true } });

function proves(change: Partial<ProofScreens>): boolean {
  const now = { screen: screen("> hello you"), reading: idle };
  return screenProves("hello you\nmore", {
    untouched: screen(),
    draft: undefined,
    stateBefore: "idle",
    now,
    ...change,
  });
}

Deno.test("proof: an emptied input line, the text above it, or the start of work shows that it was submitted [inj-proof]", () => {
  const empty = { screen: screen(""), reading: idle };
  assert.ok(proves({ draft: "hello you", now: empty }));
  assert.ok(proves({}));
  assert.ok(proves({ now: { ...empty, reading: { ...idle, state: "working" } } }));
  assert.ok(!proves({ now: empty }));
  assert.ok(!proves({ untouched: screen("hello you") }));
  assert.ok(!proves({ now: { ...empty, reading: { ...idle, draft: "hello you" } } }));
  assert.ok(
    !proves({ draft: "hello you", now: { ...empty, reading: { ...idle, draft: "", focus: "dialog" } } }),
  );
  const working = { ...idle, draft: "hello you", state: "working" } as const;
  assert.ok(!proves({ stateBefore: "working", now: { ...empty, reading: working } }));
});

Deno.test("proof: Enter was lost only when the same text still stands there and no dialog does [inj-enter-twice]", () => {
  const draft = { ...idle, draft: "hello" };
  assert.ok(enterWasLost("hello", draft, 0));
  assert.ok(!enterWasLost("hello", { ...draft, draft: "hello you" }, 0));
  assert.ok(!enterWasLost("hello", { ...draft, focus: "dialog" }, PICTURES_AT_WORK));
  assert.ok(!enterWasLost("", idle, 0));
  const atWork: ScreenReading = { ...draft, state: "working" };
  assert.ok(!enterWasLost("hello", atWork, PICTURES_AT_WORK - 1));
  assert.ok(enterWasLost("hello", atWork, PICTURES_AT_WORK));
});
