/** How the phone detects that a mirror's frames are withheld, replayed or altered. */
import assert from "node:assert/strict";
import { TerminalWatch } from "../../../src/phone/terminal_watch.ts";
import { MIRROR_PULSE_MS, MIRROR_SILENT_MS } from "../../../src/protocol/limits.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";

function makeWatch() {
  const clock = new FakeClock();
  const changes: unknown[] = [];
  const watch: TerminalWatch = new TerminalWatch({ clock, changed: () => void changes.push(watch.trouble) });
  return { clock, changes, watch };
}

Deno.test("terminal watch: a mirror without a pulse is reported silent until it is back [hostile-relay]", () => {
  const { clock, changes, watch } = makeWatch();
  watch.start();
  for (let beat = 0; beat < 5; beat++) {
    clock.advance(MIRROR_PULSE_MS);
    watch.heard();
  }
  assert.deepEqual(changes, []);
  clock.advance(MIRROR_SILENT_MS);
  assert.deepEqual(changes, ["silent"]);
  watch.heard();
  assert.deepEqual(changes, ["silent", undefined]);
  clock.advance(MIRROR_SILENT_MS);
  assert.equal(watch.trouble, "silent");
  watch.stop();
  assert.deepEqual([watch.trouble, clock.pending], [undefined, 0]);
});

Deno.test("terminal watch: keys missing from the next pulse are reported late until the host has them [hostile-relay]", () => {
  const { changes, watch } = makeWatch();
  watch.start();
  watch.pulse({ received: 0, sent: 2 });
  watch.pulse({ received: 2, sent: 3 });
  assert.deepEqual(changes, []);
  watch.pulse({ received: 2, sent: 3 });
  watch.pulse({ received: 3, sent: 3 });
  assert.deepEqual(changes, ["keys_late", undefined]);
  watch.stop();
});

Deno.test("terminal watch: tampering is reported once and stays reported [sec-replay, hostile-relay]", () => {
  const { changes, watch } = makeWatch();
  watch.start();
  watch.tampered();
  watch.tampered();
  watch.stop();
  watch.start();
  assert.deepEqual([changes, watch.trouble], [["tampered"], "tampered"]);
  watch.stop();
});
