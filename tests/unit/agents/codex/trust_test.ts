/** Talking to Codex's app server: it may never answer, nor end. */
import assert from "node:assert/strict";
import { withCodexServer } from "../../../../src/agents/codex/trust.ts";
import type { PipedChild } from "../../../../src/runtime/types.ts";

Deno.test("an app server that neither answers nor ends holds up svc setup only for its limit", async () => {
  const never = new Promise<never>(() => {});
  const silent = { [Symbol.asyncIterator]: () => ({ next: () => never }) };
  const killed: string[] = [];
  const child: PipedChild = {
    pid: 0,
    stdin: { write: () => Promise.resolve(), close: () => {} },
    stdout: silent,
    stderr: silent,
    exited: never,
    kill: (signal = "SIGKILL") => void killed.push(signal),
  };
  const commands = { pipe: () => child, run: () => never };
  const host = { commands, program: "codex", cwd: "/", env: {} };
  await assert.rejects(
    withCodexServer(host, () => never, { limitMs: 1, endMs: 1 }),
    /its app server gave no answer to "initialize"/,
  );
  assert.deepEqual(killed, ["SIGTERM", "SIGTERM"]);
});
