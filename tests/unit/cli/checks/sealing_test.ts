/** The floor of encryption against the paired phones. */
import assert from "node:assert/strict";
import { judgeFloor } from "../../../../src/cli/checks/sealing.ts";

Deno.test("a floor needs a phone that can meet it; without one nothing is required [tty-verify]", () => {
  assert.equal(judgeFloor("off", 0).mark, "ok");
  assert.equal(judgeFloor("base", 0).mark, "fault");
  assert.equal(judgeFloor("psk", 0).fix, "run: svc pair");
  assert.match(judgeFloor("psk", 2).finding, /^2 paired phone\(s\).*"psk"/);
});
