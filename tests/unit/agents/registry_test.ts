/** What every profile must hold for tmux to evaluate it. */
import assert from "node:assert/strict";
import { AGENT_KINDS, agentProfile } from "../../../src/agents/registry.ts";
import { unknownAgent } from "../../../src/agents/unknown.ts";

for (const kind of AGENT_KINDS) {
  const { dialog } = agentProfile(kind);
  const marks = [...dialog.lines, ...dialog.titles];

  Deno.test(`the marks of ${kind} are ASCII without what tmux expands in a time [inj-profile]`, () => {
    assert.ok(dialog.lines.length > 0);
    assert.deepEqual(marks.filter((mark) => !/^[ -$&-~]+$/.test(mark)), []);
  });

  Deno.test(`the marks of ${kind} are the same in POSIX and in JavaScript [inj-profile]`, () => {
    assert.deepEqual(dialog.lines.filter((mark) => /\\|\(\?|[*+?}][?+]/.test(mark)), []);
  });
}

Deno.test("a pane of no known agent has the marks of all that svc starts, but echo's [inj-pessimistic]", () => {
  const known = AGENT_KINDS.filter((kind) => kind !== "echo").map((kind) => agentProfile(kind).dialog);
  assert.deepEqual(new Set(unknownAgent.dialog.lines), new Set(known.flatMap((marks) => marks.lines)));
  assert.deepEqual(new Set(unknownAgent.dialog.titles), new Set(known.flatMap((marks) => marks.titles)));
});
