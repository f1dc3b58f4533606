/** A tmux server whose socket was removed lives on unseen; the next agent gets a second server at the same path. */
import assert from "node:assert/strict";
import { runtime } from "#runtime";
import { createRelayApi } from "../../src/client/api.ts";
import { MirrorPhone } from "../helpers/mirror_phone.ts";
import { makeStack, type Stack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";

for (const [when, isNoticed] of [["before", false], ["after", true]] as const) {
  Deno.test(`messages, mirror and keys go to the agent that the socket's path reaches, which began ${when} the listener missed the first one [inj-socket-replaced]`, async () => {
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
      if (isNoticed) await until("the session to leave the list", async () => !await isListed(stack, name));
      const seen = await stack.echo();
      assert.deepEqual([seen.name, await pidOfServer() === server], [name, false]);
      assert.equal((await stack.send(name, "two")).receipt.state, "submitted");
      assert.deepEqual([await hidden.prompts(), await seen.prompts(1)], [["one"], ["two"]]);
      await until(
        "the end of the mirror from before",
        () => early.states.some(({ kind }) => kind === "ended"),
      );
      using late = new MirrorPhone({ ...stack, session: name });
      await late.live();
      late.type({ type: "text", text: "by key" });
      await until("the key", async () => (await seen.screen()).includes("by key"));
      assert.deepEqual(await hidden.prompts(), ["one"]);
    } finally {
      runtime.commands.kill(server, "SIGKILL");
    }
  });
}

async function isListed({ url, apiKey }: Stack, name: string): Promise<boolean> {
  const { devices } = await createRelayApi({ baseUrl: url, apiKey }).sessions();
  return devices.some(({ sessions }) => sessions.some((one) => one.name === name));
}
