/** What the terminal's status line says. */
import assert from "node:assert/strict";
import { STRINGS } from "../../../src/phone/strings.ts";
import { isBlocked, terminalWords } from "../../../src/phone/terminal_words.ts";

const LIVE = { kind: "live", sealing: "psk", size: { cols: 80, rows: 24 } } as const;

Deno.test("terminal words: its state, and what became of the newest keys", () => {
  assert.deepEqual(terminalWords({ stream: LIVE, fit: "off" }), {
    status: "Live, 80 × 24",
    keys: "",
    tone: "good",
  });
  const keys = (state: "typed" | "held" | "refused", reason?: string): string =>
    terminalWords({ stream: LIVE, fit: "off", keys: { sequence: 1, state, reason } }).keys;
  assert.equal(keys("typed"), "");
  assert.equal(keys("held", "dialog_open"), STRINGS.terminal.held);
  assert.match(keys("refused", "shell_in_pane"), /^Not typed\. Start the agent again/);
  assert.match(keys("refused", "shell_escape"), /would run a shell command/);
  assert.equal(keys("refused", "of_tomorrow"), "Not typed. of_tomorrow");
  assert.equal(keys("refused", "repeated"), STRINGS.terminal.keysRepeated);
  for (const trouble of ["silent", "keys_late", "meddled"] as const) {
    const told = terminalWords({ stream: { ...LIVE, trouble }, fit: "off" });
    assert.deepEqual([told.keys, told.tone], [STRINGS.terminal.troubles[trouble], "bad"]);
  }
  assert.equal(terminalWords({ stream: LIVE, fit: "refused" }).keys, STRINGS.terminal.fitRefused);
});

Deno.test("terminal words: every end that relay and listener know has its sentence", () => {
  const ended = (reason: string): string =>
    terminalWords({ stream: { kind: "ended", reason, lasting: false }, fit: "off" }).status;
  for (const reason of ["no_such_session", "listener_offline", "sealed_required", "keys_lost"]) {
    assert.doesNotMatch(ended(reason), new RegExp(reason), reason);
  }
  assert.equal(ended("of_tomorrow"), "The terminal ended: of_tomorrow.");
  assert.equal(terminalWords({ stream: { kind: "opening" }, fit: "off" }).tone, "pending");
});

Deno.test("terminal words: without a link it says so and takes no key, nor while a dialog holds one", () => {
  const lost = { stream: { kind: "lost" }, fit: "off" } as const;
  assert.deepEqual(terminalWords(lost), { status: STRINGS.terminal.lost, keys: "", tone: "bad" });
  const held = { sequence: 1, state: "held", reason: "dialog_open" } as const;
  const blocked = [lost, { stream: LIVE, fit: "off", keys: held }, { stream: LIVE, fit: "off" }] as const;
  assert.deepEqual(blocked.map((told) => isBlocked(told)), [true, true, false]);
});

Deno.test("terminal words: keys of a stream that broke may not have arrived, and a fitted window says so", () => {
  for (const stream of [LIVE, { kind: "opening" }, { kind: "lost" }] as const) {
    assert.equal(terminalWords({ stream, fit: "off", unsure: true }).keys, STRINGS.terminal.unsure);
  }
  assert.equal(terminalWords({ stream: LIVE, fit: "on" }).status, "Live, 80 × 24, fitted");
});

Deno.test("keys that wait for an agent at work say so, and its interrupting keys stay [inj-turn]", () => {
  const stream = { kind: "live", sealing: "psk", size: { cols: 80, rows: 24 } } as const;
  const keys = { sequence: 1, state: "held", reason: "agent_working" } as const;
  assert.match(terminalWords({ stream, keys, fit: "off" }).keys, /working.*Keys wait/);
  assert.equal(isBlocked({ stream, keys, fit: "off" }), false);
  assert.equal(isBlocked({ stream, keys: { ...keys, reason: "dialog_open" }, fit: "off" }), true);
});
