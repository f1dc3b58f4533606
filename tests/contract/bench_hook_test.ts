/** The bench's hook rows: the real hook compared with the bare runtime, with its target. Asserts no time. */
import assert from "node:assert/strict";
import { RUNTIME } from "../../bench/bare.ts";
import { figures } from "../../bench/measure.ts";
import { hookRows } from "../../bench/rows/hook.ts";

Deno.test("bench: each hook is measured as its agent runs it, against the runtime running an empty file, with and without a daemon [perf-hook]", async () => {
  assert.deepEqual(hookRows.map(({ name }) => name), [
    "hook: svc remote-hook codex, no daemon",
    "hook: svc remote-hook codex, with a daemon",
    "hook: svc hook Stop codex, with a daemon",
    "hook: svc hook PreToolUse codex gates, with a daemon",
  ]);
  for (const row of hookRows) {
    assert.deepEqual([row.aim, row.beside], ["< 1.5", `${RUNTIME} running an empty file`]);
    const { ours, theirs, close } = await row.open();
    try {
      for (const way of [ours, theirs]) assert.ok(figures([await way?.() ?? 0]).median > 0);
    } finally {
      await close();
    }
  }
});
