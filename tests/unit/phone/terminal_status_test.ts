/** The text of the terminal's status line. */

import assert from "node:assert/strict";
import type { KeyState } from "../../../src/protocol/pane_frame.ts";
import { SESSION_TEXT } from "../../../src/phone/session_text.ts";
import { isBlocked, statusText } from "../../../src/phone/terminal_status.ts";

const LIVE = { kind: "live", sealing: "psk", size: { cols: 80, rows: 24 } } as const;

Deno.test("terminal status: its state, and whether the newest keys were typed", () => {
  assert.deepEqual(statusText({ stream: LIVE, fit: "off" }), {
    status: "Live, 80 × 24",
    warning: "",
    tone: "good",
  });
  assert.equal(statusText({ stream: LIVE, fit: "off", away: { newer: 0 } }).status, "Earlier output");
  const warning = (state: KeyState["state"], reason?: string): string =>
    statusText({ stream: LIVE, fit: "off", keys: { sequence: 1, state, reason } }).warning;
  assert.equal(warning("typed"), "");
  assert.equal(warning("held", "dialog_open"), SESSION_TEXT.terminal.held);
  assert.match(warning("refused", "shell_in_pane"), /^Not typed\. The agent is gone/);
  assert.match(warning("refused", "shell_escape"), /would run a shell command/);
  assert.equal(warning("refused", "of_tomorrow"), "Not typed. of_tomorrow");
  assert.equal(warning("refused", "repeated"), SESSION_TEXT.terminal.keysRepeated);
  assert.equal(warning("unknown"), SESSION_TEXT.terminal.unsure);
  for (const trouble of ["silent", "keys_late", "tampered"] as const) {
    const found = statusText({ stream: { ...LIVE, trouble }, fit: "off" });
    assert.deepEqual([found.warning, found.tone], [SESSION_TEXT.terminal.troubles[trouble], "bad"]);
  }
  assert.equal(statusText({ stream: LIVE, fit: "refused" }).warning, SESSION_TEXT.terminal.fitRefused);
});

Deno.test("terminal status: every end that relay and listener report has a sentence", () => {
  const ended = (reason: string): string =>
    statusText({ stream: { kind: "ended", reason, lasting: false }, fit: "off" }).status;
  for (const reason of ["no_such_session", "listener_offline", "sealed_required", "keys_lost"]) {
    assert.doesNotMatch(ended(reason), new RegExp(reason), reason);
  }
  assert.equal(ended("of_tomorrow"), "The terminal ended: of_tomorrow.");
  assert.equal(statusText({ stream: { kind: "opening" }, fit: "off" }).tone, "pending");
});

Deno.test("terminal status: keys are blocked without a link, and while a dialog holds a key", () => {
  const lost = { stream: { kind: "lost" }, fit: "off" } as const;
  assert.deepEqual(statusText(lost), { status: SESSION_TEXT.terminal.lost, warning: "", tone: "bad" });
  const held = { sequence: 1, state: "held", reason: "dialog_open" } as const;
  const blocked = [lost, { stream: LIVE, fit: "off", keys: held }, { stream: LIVE, fit: "off" }] as const;
  assert.deepEqual(blocked.map((info) => isBlocked(info)), [true, true, false]);
});

Deno.test("terminal status: it warns about keys of a broken stream, and says when the window is fitted", () => {
  for (const stream of [LIVE, { kind: "opening" }, { kind: "lost" }] as const) {
    assert.equal(statusText({ stream, fit: "off", unsure: true }).warning, SESSION_TEXT.terminal.unsure);
  }
  assert.equal(statusText({ stream: LIVE, fit: "on" }).status, "Live, 80 × 24, fitted");
});

Deno.test("keys held for a working agent say so, and the interrupting keys stay enabled [inj-turn]", () => {
  const stream = { kind: "live", sealing: "psk", size: { cols: 80, rows: 24 } } as const;
  const keys = { sequence: 1, state: "held", reason: "agent_working" } as const;
  assert.match(statusText({ stream, keys, fit: "off" }).warning, /working.*Keys are held/);
  assert.equal(isBlocked({ stream, keys, fit: "off" }), false);
  assert.equal(isBlocked({ stream, keys: { ...keys, reason: "dialog_open" }, fit: "off" }), true);
});
