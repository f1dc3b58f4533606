/** An agent's questions and notes while its project is muted, with real relay, listener, tmux and `svc mcp`. */
import assert from "node:assert/strict";
import { textOf } from "../helpers/mcp_bench.ts";
import { type McpProcess, startMcp } from "../helpers/mcp_process.ts";
import { makeStack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";

async function call({ client }: McpProcess, name: string, args: Record<string, unknown>): Promise<string> {
  const result = await client.callTool({ name, arguments: args });
  return `${result.isError === true ? "error: " : ""}${textOf(result)}`;
}

Deno.test("a muted project's questions and notes do not reach the phone, and the agent is told to ask in the terminal [cli-mute]", async () => {
  await using stack = await makeStack();
  const { sandbox, api } = stack;
  const echo = await stack.echo();
  const pane = (await sandbox.tmux("display-message", "-p", "-t", `=${echo.name}:`, "#{pane_id}")).trim();
  // The agent works in another directory.
  const env = { SVC_SESSION: echo.name, TMUX: `${sandbox.tmuxSocket},1,0`, TMUX_PANE: pane };
  const cwd = await Deno.makeTempDir({ dir: sandbox.root });
  const mcp = await startMcp(sandbox, { env, cwd });
  const sent = async (): Promise<string[]> =>
    (await api.listPushes({ before: "end" })).pushes.map(({ push }) => push.type);
  assert.equal((await stack.svc("mute")).code, 0);
  for (
    const [tool, args] of [["svc_notify", { title: "Done" }], ["svc_ask", { question: "Go on?" }]] as const
  ) {
    assert.match(await call(mcp, tool, args), /^error: Nothing was sent: the user muted this project/, tool);
  }
  assert.deepEqual(await sent(), []);
  assert.equal((await stack.svc("unmute")).code, 0);
  assert.match(await call(mcp, "svc_notify", { title: "Done" }), /on its way/);
  await until("the note at the relay", async () => (await sent()).includes("note"));
  await mcp.client.close();
});
