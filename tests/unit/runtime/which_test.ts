/** A program is found where a shell would find it. */

import assert from "node:assert/strict";
import { findProgram } from "../../../src/runtime/which.ts";

const isExecutable = (path: string): Promise<boolean> =>
  Promise.resolve(["/usr/bin/tmux", "/opt/bin/tmux", "./here/tmux"].includes(path));

Deno.test("the first folder of PATH that has it wins", async () => {
  assert.equal(await findProgram("tmux", "/bin:/opt/bin:/usr/bin", isExecutable), "/opt/bin/tmux");
  assert.equal(await findProgram("tmux", "/bin", isExecutable), undefined);
  assert.equal(await findProgram("tmux", undefined, isExecutable), undefined);
});

Deno.test("relative and empty folders of PATH are not searched", async () => {
  assert.equal(await findProgram("tmux", ":./here:here", isExecutable), undefined);
});

Deno.test("a name with a slash is taken as it is", async () => {
  assert.equal(await findProgram("./here/tmux", "/usr/bin", isExecutable), "./here/tmux");
  assert.equal(await findProgram("bin/tmux", "/usr", isExecutable), undefined);
});
