/** `svc mcp` as agents start it: a process on standard input and output, from the checkout and as the package on Node. */
import assert from "node:assert/strict";
import { PhoneSide, textOf } from "../helpers/mcp_bench.ts";
import { startMcp } from "../helpers/mcp_process.ts";
import { buildForNode } from "../helpers/node_build.ts";
import { FROM_CHECKOUT, type Launch } from "../helpers/program.ts";
import { makeSandbox, type Sandbox } from "../helpers/sandbox.ts";
import { CHECKOUT } from "../helpers/sources.ts";
import { until } from "../helpers/until.ts";

interface Bench {
  sandbox: Sandbox;
  launch: Launch;
  configure(config: unknown): Promise<void>;
}

const LAUNCHES: Record<string, (sandbox: Sandbox) => Promise<Launch>> = {
  deno: () => Promise.resolve(FROM_CHECKOUT),
  node: (sandbox) => buildForNode(`${CHECKOUT}cli.ts`, { folder: `${sandbox.root}/built` }),
};

function testOnBoth(name: string, body: (bench: Bench) => Promise<void>): void {
  for (const [runtime, launch] of Object.entries(LAUNCHES)) {
    Deno.test(`svc mcp on ${runtime}: ${name}`, async () => {
      await using sandbox = await makeSandbox();
      await Deno.mkdir(sandbox.svcHome, { mode: 0o700 });
      const configure = (config: unknown): Promise<void> => {
        const text = typeof config === "string" ? config : JSON.stringify(config);
        return Deno.writeTextFile(`${sandbox.svcHome}/config.json`, text, { mode: 0o600 });
      };
      await body({ sandbox, launch: await launch(sandbox), configure });
    });
  }
}

/** Returns what the process prints for these input lines, after which its input ends or the signal is sent. */
async function exchange(
  { sandbox, launch }: Bench,
  { lines, until: wanted, signal }: { lines: string[]; until: RegExp; signal?: Deno.Signal },
): Promise<{ code: number; lines: Record<string, unknown>[]; stderr: string }> {
  const [program = "", ...args] = [...launch, "mcp"];
  const child = new Deno.Command(program, {
    args,
    cwd: sandbox.project,
    env: sandbox.env,
    clearEnv: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  sandbox.killAtEnd(child.pid);
  const input = child.stdin.getWriter();
  await input.write(new TextEncoder().encode(lines.map((line) => `${line}\n`).join("")));
  const stderr = new Response(child.stderr).text();
  let text = "";
  let asked = false;
  for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += part;
    if (asked || !wanted.test(text)) continue;
    asked = true;
    if (signal === undefined) await input.close();
    else child.kill(signal);
  }
  const { code } = await child.status;
  if (signal !== undefined) await input.close().catch(() => undefined);
  const printed = text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
  return { code, lines: printed, stderr: await stderr };
}

const initialize = (protocolVersion: string): string =>
  JSON.stringify({
    jsonrpc: "2.0",
    id: "init-1",
    method: "initialize",
    params: { protocolVersion, capabilities: {}, clientInfo: { name: "agent", version: "1" } },
  });

testOnBoth(
  "the protocol's own client lists and calls its tools over pipes [cli-mcp, other-mcp, run-node]",
  async (bench) => {
    const phone = await PhoneSide.start(bench.sandbox.root);
    const { wsUrl, apiKey } = phone.settings;
    await bench.configure({ wsUrl, apiKey });
    const env = { SVC_SESSION: "svc-proj" };
    const { client } = await startMcp(bench.sandbox, { launch: bench.launch, env });
    assert.equal((await client.listTools()).tools.length, 4);
    const call = client.callTool({
      name: "svc_ask",
      arguments: { question: "Go?", options: ["Go", "Stop"] },
    });
    const asked = await phone.asked("Go?");
    assert.equal(asked.agentSessionName, "svc-proj");
    await phone.answer(asked, { data: { choices: ["Go"] } });
    assert.equal(textOf(await call), "Go");
    await client.close();
    await phone.relay.stop();
  },
);

testOnBoth(
  "a probe before initialize is refused, ids may be strings, and each client's protocol version is used",
  async (bench) => {
    for (const version of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]) {
      const probe = '{"jsonrpc":"2.0","id":"server-discover-probe-1","method":"server/discover"}';
      const { code, lines, stderr } = await exchange(bench, {
        lines: [probe, "no JSON at all", initialize(version)],
        until: /protocolVersion/,
      });
      const [refused, initialized] = lines;
      assert.deepEqual([refused?.["id"], (refused?.["error"] as { code: number }).code], [
        "server-discover-probe-1",
        -32601,
      ]);
      assert.equal(initialized?.["id"], "init-1");
      assert.equal((initialized?.["result"] as { protocolVersion: string }).protocolVersion, version);
      assert.deepEqual([code, lines.length, stderr], [0, 2, ""]);
    }
  },
);

testOnBoth(
  "a request of more than 1 MiB is refused, a notification skipped, and the next call answered [mcp-too-long]",
  async (bench) => {
    const question = "x".repeat(1_048_576);
    const params = { name: "svc_ask", arguments: { question, id: 8 } };
    const { code, lines } = await exchange(bench, {
      lines: [
        initialize("2025-11-25"),
        JSON.stringify({ jsonrpc: "2.0", id: "first", method: "tools/call", params }),
        JSON.stringify({ method: "tools/call", params, jsonrpc: "2.0", id: 4 }),
        JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params }),
        JSON.stringify({ jsonrpc: "2.0", id: 5, method: "ping" }),
      ],
      until: /"id":5/,
    });
    const refused = lines.filter((line) => line["error"] !== undefined);
    assert.deepEqual(refused.map(({ id }) => id), ["first", 4]);
    assert.match(JSON.stringify(refused[0]), /at most 1048576 bytes/);
    assert.ok(lines.some(({ id, result }) => id === 5 && result !== undefined));
    assert.deepEqual([code, lines.length], [0, 4]);
  },
);

testOnBoth(
  "started by hand in a terminal it says who starts it, and Ctrl-D and Ctrl-C end it [mcp-by-hand]",
  async ({ sandbox, launch }) => {
    for (const key of ["C-d", "C-c"]) {
      const name = `mcp-${key}`;
      // The shell outlives the interrupt, which reaches every program in the foreground.
      await sandbox.newSession(name, [
        "sh",
        "-c",
        'trap : INT; "$@" mcp; echo "ended $?"; exec sleep 1000',
        "sh",
        ...launch,
      ]);
      await until("the hint", async () => /agents start this command/.test(await sandbox.screen(name)));
      await sandbox.tmux("send-keys", "-t", `=${name}:`, key);
      await until("its end", async () => /ended (?:0|130)$/m.test(await sandbox.screen(name)));
    }
  },
);

testOnBoth("a broken configuration is reported in a result, and a signal ends the server", async (bench) => {
  await bench.configure('{"wsUrl": }');
  const call =
    '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"svc_notify","arguments":{"title":"x"}}}';
  const { code, lines } = await exchange(bench, {
    lines: [initialize("2025-11-25"), '{"jsonrpc":"2.0","method":"notifications/initialized"}', call],
    until: /isError/,
    signal: "SIGTERM",
  });
  const result = lines.at(-1)?.["result"] as { isError: boolean; content: { text: string }[] };
  assert.equal(result.isError, true);
  assert.match(result.content[0]?.text ?? "", /config\.json": line 1, column 11 is not JSON/);
  assert.equal(code, 0);
});

testOnBoth("without a configuration a call says what to run", async (bench) => {
  const call =
    '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"svc_ask","arguments":{"question":"?"}}}';
  const { code, lines } = await exchange(bench, {
    lines: [initialize("2025-11-25"), call],
    until: /isError/,
  });
  assert.match(JSON.stringify(lines.at(-1)), /not set up on this machine.*svc up/);
  assert.equal(code, 0);
});

testOnBoth(
  "it uses the relay whose WebSocket the host joins, whatever SVC_BASE_URL names [env-one-relay]",
  async (bench) => {
    const asked: string[] = [];
    const record = (host: string): Deno.HttpServer<Deno.NetAddr> =>
      Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, () => {
        asked.push(host);
        return new Response(null, { status: 401 });
      });
    await using own = record("own");
    await using other = record("other");
    await bench.configure({ apiKey: "svc_x", wsUrl: `ws://127.0.0.1:${own.addr.port}/ws` });
    bench.sandbox.env.SVC_BASE_URL = `http://127.0.0.1:${other.addr.port}`;
    const call =
      '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"svc_notify","arguments":{"title":"x"}}}';
    await exchange(bench, { lines: [initialize("2025-11-25"), call], until: /isError/ });
    assert.deepEqual([...new Set(asked)], ["own"]);
  },
);
