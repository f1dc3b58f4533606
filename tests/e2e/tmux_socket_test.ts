/** A tmux server whose socket was removed lives on unseen; the next agent gets a second server at the same path. */
import assert from "node:assert/strict";
import { runtime } from "#runtime";
import { MirrorPhone } from "../helpers/mirror_phone.ts";
import { makeStack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";

Deno.test("after the socket was removed, messages, mirror and keys go to the agent that its path reaches [inj-socket-replaced]", async () => {
  await using stack = await makeStack();
  const { sandbox } = stack;
  const pidOfServer = async (): Promise<number> =>
    Number(await sandbox.tmux("display-message", "-p", "#{pid}"));
  const hidden = await stack.echo();
  const name = hidden.name;
  assert.equal((await stack.send(name, "one")).receipt.state, "submitted");
  const server = await pidOfServer();
  using early = new MirrorPhone({ ...stack, session: name });
  await early.live();
  await Deno.remove(sandbox.tmuxSocket);
  try {
    const seen = await stack.echo();
    assert.deepEqual([seen.name, await pidOfServer() === server], [name, false]);
    assert.equal((await stack.send(name, "two")).receipt.state, "submitted");
    assert.deepEqual([await hidden.prompts(), await seen.prompts(1)], [["one"], ["two"]]);
    await until("the end of the mirror from before", () => early.states.some(({ kind }) => kind === "ended"));
    using late = new MirrorPhone({ ...stack, session: name });
    await late.live();
    late.type({ type: "text", text: "by key" });
    await until("the key", async () => (await seen.screen()).includes("by key"));
    assert.deepEqual(await hidden.prompts(), ["one"]);
  } finally {
    runtime.commands.kill(server, "SIGKILL");
  }
});
