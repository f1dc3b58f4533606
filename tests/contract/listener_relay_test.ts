/** Which relay gets the host's key from a listener if other addresses are configured: from the checkout, and as the package on Node. */
import assert from "node:assert/strict";
import { runtime } from "#runtime";
import { askDaemon } from "../../src/home/control_socket.ts";
import { Pane } from "../helpers/agents_pane.ts";
import { recordedCall } from "../helpers/hook_calls.ts";
import { buildForNode } from "../helpers/node_build.ts";
import { FROM_CHECKOUT, type Launch, runSvc, startSvc } from "../helpers/program.ts";
import { CHECKOUT } from "../helpers/sources.ts";
import { makeStack, type Stack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";

const LAUNCHES: Record<string, (stack: Stack) => Promise<Launch>> = {
  deno: () => Promise.resolve(FROM_CHECKOUT),
  node: ({ sandbox }) => buildForNode(`${CHECKOUT}cli.ts`, { folder: `${sandbox.root}/built` }),
};

/** Starts another relay's HTTP address, which records the keys that it receives. */
function startOther(): { url: string; keys: (string | null)[]; server: Deno.HttpServer } {
  const keys: (string | null)[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, ({ headers }) => {
    keys.push(headers.get("X-API-Key"));
    return new Response(null, { status: 503 });
  });
  return { url: `http://127.0.0.1:${server.addr.port}`, keys, server };
}

/** Reports the end of a turn to the listener, which forwards it; resolves once a relay was asked to store it. */
async function stopTurn({ sandbox, api }: Stack, keys: readonly unknown[]): Promise<void> {
  const { session } = await Pane.open(sandbox, { session: "svc-proj", argv: ["cat"] });
  const input = JSON.stringify({ ...await recordedCall("codex", "Stop"), cwd: sandbox.project });
  await runSvc(sandbox, ["hook", "Stop", "codex"], { stdin: input, env: { SVC_SESSION: session } });
  await until("the end of the turn at a relay", async () => {
    if (keys.length > 0) return true;
    const { pushes } = await api.listPushes({ before: "end" });
    return pushes.some(({ push }) => push.type === "agent.stop");
  });
}

for (const [runtime, launchOf] of Object.entries(LAUNCHES)) {
  Deno.test(`a listener on ${runtime} sends the host's key to the relay that it is connected to, whatever SVC_BASE_URL names [env-one-relay]`, async () => {
    await using stack = await makeStack({ listener: false });
    const { url, keys, server } = startOther();
    await using _ = server;
    await stack.startListener({ launch: await launchOf(stack), env: { SVC_BASE_URL: url } });
    await stopTurn(stack, keys);
    assert.deepEqual(keys, []);
  });

  Deno.test(`svc listener --ws-url on ${runtime} leaves the file's baseUrl to the file's relay [env-one-relay]`, async () => {
    await using stack = await makeStack({ listener: false });
    const { url, keys, server } = startOther();
    await using _ = server;
    const { sandbox, apiKey, wsUrl } = stack;
    const config = JSON.stringify({
      apiKey,
      hookId: "hook_test",
      wsUrl: "ws://127.0.0.1:9/ws",
      baseUrl: url,
    });
    await Deno.writeTextFile(`${sandbox.svcHome}/config.json`, config, { mode: 0o600 });
    const listener = startSvc(sandbox, ["listener", "--ws-url", wsUrl], { launch: await launchOf(stack) });
    await listener.line(/connected to/);
    await stopTurn(stack, keys);
    assert.deepEqual(keys, []);
  });
}

/** More than a listener makes by itself while the test waits. */
const TRIES = 40;

Deno.test("a listener that waits for its relay tries it as soon as a session or a relay starts", async () => {
  await using stack = await makeStack({ listener: false });
  const { sandbox } = stack;
  let tries = 0;
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, ({ headers }) => {
    if (headers.has("Upgrade")) tries++;
    return new Response(null, { status: 503 });
  });
  const wsUrl = `ws://127.0.0.1:${server.addr.port}/ws`;
  const listener = startSvc(sandbox, ["listener", "--ws-url", wsUrl]);
  await listener.line(/next try in/);
  await until("the tries", async () => {
    await askDaemon({ ...runtime, path: `${sandbox.svcHome}/listener.sock` }, { op: "look" }, {
      timeoutMs: 10_000,
    });
    return tries >= TRIES;
  });
});
