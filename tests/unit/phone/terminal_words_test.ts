/** What the terminal's status line says. */
import assert from "node:assert/strict";
import { STRINGS } from "../../../src/phone/strings.ts";
import { terminalWords } from "../../../src/phone/terminal_words.ts";

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
