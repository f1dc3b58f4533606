/** What a wrapper run does about the daemon. */
import assert from "node:assert/strict";
import { decideDaemon } from "../../../src/home/decide_daemon.ts";

Deno.test("without a live daemon one is started [state-absent]", () => {
  assert.deepEqual(decideDaemon({ running: undefined, installed: "1.0.0" }), { action: "start" });
});

Deno.test("a daemon of the installed version is kept [state-running]", () => {
  assert.deepEqual(decideDaemon({ running: "1.0.0", installed: "1.0.0" }), { action: "keep" });
});

Deno.test("an older daemon is restarted, with its stale version to tell [state-older, ver-older]", () => {
  const decision = decideDaemon({ running: "0.9.0", installed: "1.0.0" });
  assert.deepEqual(decision, { action: "restart", stale: "0.9.0" });
});

Deno.test("a newer daemon is left alone [state-newer, ver-newer]", () => {
  const decision = decideDaemon({ running: "1.0.1", installed: "1.0.0" });
  assert.deepEqual(decision, { action: "leave", running: "1.0.1" });
});

Deno.test("a daemon whose version is not to be read is kept", () => {
  assert.deepEqual(decideDaemon({ running: "junk", installed: "1.0.0" }), { action: "keep" });
});
