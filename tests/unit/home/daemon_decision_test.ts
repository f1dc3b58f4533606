/** What a wrapper does about the daemon, depending on the versions. */
import assert from "node:assert/strict";
import { compareVersions, decideDaemon, isVersion } from "../../../src/home/daemon_decision.ts";

Deno.test("without a live daemon one is started [state-absent]", () => {
  assert.deepEqual(decideDaemon({ running: undefined, installed: "1.0.0" }), { action: "start" });
});

Deno.test("a daemon of the installed version is kept [state-running]", () => {
  assert.deepEqual(decideDaemon({ running: "1.0.0", installed: "1.0.0" }), { action: "keep" });
});

Deno.test("an older daemon is restarted, and its old version is reported [state-older, ver-older]", () => {
  const decision = decideDaemon({ running: "0.9.0", installed: "1.0.0" });
  assert.deepEqual(decision, { action: "restart", stale: "0.9.0" });
});

Deno.test("a newer daemon is left alone [state-newer, ver-newer]", () => {
  const decision = decideDaemon({ running: "1.0.1", installed: "1.0.0" });
  assert.deepEqual(decision, { action: "leave", running: "1.0.1" });
});

Deno.test("a daemon whose version cannot be read is kept", () => {
  assert.deepEqual(decideDaemon({ running: "junk", installed: "1.0.0" }), { action: "keep" });
});

Deno.test("versions are ordered as in semver.org, section 11", () => {
  const ordered = [
    ...["0.9.9", "0.10.0", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2"],
    ...["1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1", "1.2.0", "1.10.0", "2.0.0"],
  ];
  for (const [index, version] of ordered.entries()) {
    for (const [other, against] of ordered.entries()) {
      const expected = Math.sign(index - other);
      assert.equal(Math.sign(compareVersions(version, against)), expected, `${version} ${against}`);
    }
  }
});

Deno.test("build metadata and a leading v are ignored; text that is not a version has no order", () => {
  assert.equal(compareVersions("v1.2.3+build.5", "1.2.3"), 0);
  assert.equal(compareVersions("junk", "1.2.3"), 0);
  assert.equal(compareVersions("1.2.3", ""), 0);
  assert.deepEqual(["1.2.3", "1.2.3-rc.1", "1.2", "", "x1.2.3"].map(isVersion), [
    true,
    true,
    false,
    false,
    false,
  ]);
});
