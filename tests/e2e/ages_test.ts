/** The ages of sessions in the list survive a restart of the listener. */
import assert from "node:assert/strict";
import type { SessionEntry } from "../../src/protocol/session.ts";
import { makeStack, type Stack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";

async function reported({ api }: Stack, after: number): Promise<{ entry: SessionEntry; at: number }> {
  return await until("a report with an idle session", async () => {
    const [device] = (await api.sessions()).devices;
    const entry = device?.sessions.find(({ state }) => state === "idle");
    return device !== undefined && entry !== undefined && device.lastSeen > after &&
      { entry, at: device.lastSeen };
  });
}

Deno.test("an agent's idle time is not counted from the listener's start [ls-state-since]", async () => {
  await using stack = await makeStack();
  await stack.echo();
  const { entry } = await reported(stack, 0);
  const restartedAt = Date.now();
  await stack.restartListener();
  const after = await reported(stack, restartedAt);
  assert.equal(after.entry.stateSince, entry.stateSince);
  assert.equal(after.entry.createdAt, entry.createdAt);
  stack.listener.kill("SIGTERM");
  await stack.listener.exited;
  await Deno.remove(`${stack.sandbox.svcHome}/states.json`);
  await stack.startListener();
  const anew = await reported(stack, after.at);
  assert.ok(anew.entry.stateSince < restartedAt, "tmux knows since when the session is silent");
});
