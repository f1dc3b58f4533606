/** Home and temporary directory come from the environment, or the failure says what to set. */

import assert from "node:assert/strict";
import { homeFrom, temporaryFrom } from "../../../src/runtime/directories.ts";

Deno.test("a home is taken as it is set, and never guessed", () => {
  assert.equal(homeFrom("/home/me"), "/home/me");
  assert.throws(() => homeFrom(undefined), /HOME is null; set it to an absolute path/);
  assert.throws(() => homeFrom("me"), /HOME is "me"/);
});

Deno.test("the temporary directory has no slash at its end", () => {
  assert.equal(temporaryFrom("/var/folders/x/T/"), "/var/folders/x/T");
  assert.equal(temporaryFrom("/"), "/");
  assert.equal(temporaryFrom(undefined), "/tmp");
  assert.equal(temporaryFrom("relative"), "/tmp");
});
