/** The checks of the configuration: its keys, and the encryption that it requires. */
import assert from "node:assert/strict";
import { judgeFloor, judgeKeys } from "../../../../src/cli/checks/machine.ts";

Deno.test("required encryption needs a phone that is paired; without the requirement none is needed [tty-verify]", () => {
  assert.equal(judgeFloor("off", 0).mark, "ok");
  assert.equal(judgeFloor("base", 0).mark, "fault");
  assert.equal(judgeFloor("psk", 0).fix, "run: svc pair");
  assert.match(judgeFloor("psk", 2).finding, /^2 paired phone\(s\).*"psk"/);
});

Deno.test("a mistyped key of config.json is a fault that names the key meant; another unknown key is a warning [cmd-verify]", () => {
  assert.equal(judgeKeys(["apiKey", "wsUrl", "allowRemoteApproval"], "/c"), undefined);
  const typo = judgeKeys(["wsUrl", "future", "allowRemoteAproval"], "/c");
  assert.equal(typo?.mark, "fault");
  assert.match(typo?.finding ?? "", /"allowRemoteAproval" is not a key/);
  assert.equal(typo?.fix, 'rename it to "allowRemoteApproval" in "/c"');
  const unknown = judgeKeys(["wsUrl", "somethingElseEntirely"], "/c");
  assert.deepEqual([unknown?.mark, unknown?.finding], [
    "warning",
    'svc does not know "somethingElseEntirely"',
  ]);
});
