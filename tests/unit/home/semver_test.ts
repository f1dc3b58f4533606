/** The order of versions. */
import assert from "node:assert/strict";
import { compareVersions, isVersion } from "../../../src/home/semver.ts";

Deno.test("versions stand in the order of semver.org, section 11", () => {
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

Deno.test("build words and a leading v do not count; what is no version has no order", () => {
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
