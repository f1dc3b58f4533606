/** Who counts as a living process of this user, from what the system shows of it. */

import assert from "node:assert/strict";
import { livesByProc, livesByPs } from "../../../src/runtime/liveness.ts";

const status = (state: string, uid: number): string =>
  `Name:\tcli.ts State: Z\nUmask:\t0022\nState:\t${state}\nPid:\t42\nUid:\t${uid}\t${uid}\t${uid}\t${uid}\n`;

Deno.test("a sleeping, running or stopped process of this user lives", () => {
  for (const state of ["S (sleeping)", "R (running)", "T (stopped)", "D (disk sleep)"]) {
    assert.equal(livesByProc(42, 1000, () => status(state, 1000)), true, state);
  }
});

Deno.test("a zombie, a dead and a missing one do not", () => {
  assert.equal(livesByProc(42, 1000, () => status("Z (zombie)", 1000)), false);
  assert.equal(livesByProc(42, 1000, () => status("X (dead)", 1000)), false);
  const missing = (path: string): string => {
    throw new Error(path);
  };
  assert.equal(livesByProc(42, 1000, missing), false);
});

Deno.test("another user's process does not count, but for root", () => {
  assert.equal(livesByProc(42, 1000, () => status("S (sleeping)", 0)), false);
  assert.equal(livesByProc(42, 0, () => status("S (sleeping)", 1000)), true);
});

Deno.test("ps tells the same where there is no /proc", () => {
  assert.equal(livesByPs(" 1000 S+\n", 1000), true);
  assert.equal(livesByPs(" 1000 Z\n", 1000), false);
  assert.equal(livesByPs(" 0 Ss\n", 1000), false);
  assert.equal(livesByPs("", 1000), false);
});
