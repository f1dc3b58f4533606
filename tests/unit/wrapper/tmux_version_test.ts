/** Which tmux will do. */
import assert from "node:assert/strict";
import { isTmuxTooOld } from "../../../src/wrapper/tmux_version.ts";

Deno.test("3.2 and later will do, in all the ways that tmux tells its version [wr-no-tmux]", () => {
  for (const version of ["tmux 3.2", "tmux 3.3a", "tmux 4.0", "tmux next-3.5", "tmux 3.10", "tmux master"]) {
    assert.equal(isTmuxTooOld(version), false, version);
  }
  assert.equal(isTmuxTooOld("tmux openbsd-7.4"), false);
  for (const version of ["tmux 3.1c", "tmux 2.9", "tmux 1.8"]) {
    assert.equal(isTmuxTooOld(version), true, version);
  }
});
