/** svc as people install it: from an empty folder, with an agent from npm. */
import assert from "node:assert/strict";
import { nodeFromNpm } from "../../scripts/node22.ts";
import { VERSION } from "../../src/protocol/version.ts";
import { runAgent } from "../agents/run_agent.ts";
import { assertTyped, untilPushes } from "../agents/phone.ts";
import { type Launch, runSvc, startSvc } from "../helpers/program.ts";
import { run } from "../helpers/run.ts";
import { makeSandbox } from "../helpers/sandbox.ts";
import { makeStack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";
import { must, tarball, type Way, WAYS } from "./ways.ts";

async function withFolder(act: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "svc-installed-" });
  try {
    await act(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const withInstalled = (way: Way, act: (launch: Launch) => Promise<void>): Promise<void> =>
  withFolder(async (folder) => await act(await way.install(folder)));

/** Runs `svc up --demo`, and sends a message into its session. */
async function demoTakesMessage(launch: Launch, process: RegExp): Promise<void> {
  await using sandbox = await makeSandbox();
  const up = startSvc(sandbox, ["up", "--listen", "127.0.0.1:0", "--demo"], { launch });
  await up.line(/^svc-demo +demo · Echo/);
  const url = /^Open this link: (http:\/\/localhost:\d+)/m.exec(up.output())?.[1] ?? assert.fail(up.output());
  assert.match(await (await fetch(url)).text(), /<script/);
  const sent = await runSvc(sandbox, ["send", "svc-demo", "hello", "--json"], { launch });
  assert.equal(sent.code, 0, sent.stderr);
  assert.equal(JSON.parse(sent.stdout).receipt.state, "submitted");
  const { listener } = JSON.parse((await runSvc(sandbox, ["status", "--json"], { launch })).stdout);
  assert.match((await run(["ps", "-o", "args=", "-p", String(listener.pid)])).stdout, process);
  up.kill("SIGINT");
  assert.equal((await up.exited).code, 0, up.output());
}

/** Runs `svc setup` and `svc cc`, sends a message to the model, and checks the hooks and the MCP server of that svc. */
async function agentTakesMessage(launch: Launch): Promise<void> {
  await using stack = await makeStack({ launch });
  await using agent = await runAgent("cc", stack);
  const { session, standIn } = agent;
  const { receipt } = await stack.send(session, "hello from the phone");
  assertTyped(receipt, "hello from the phone");
  const body = await until("the message at the model", () => {
    const last = standIn.bodies().at(-1) ?? "";
    return last.includes("hello from the phone") && last;
  });
  assert.match(body, /drives this session from their phone/);
  await untilPushes(stack, "agent.stop", 1);
  await agent.untilIdle();
  standIn.callTool("svc_notify", { title: "A note", body: "from the model" });
  await stack.send(session, "tell my phone");
  const [note] = await untilPushes(stack, "note", 1);
  assert.deepEqual([note?.title, note?.agentSessionName], ["A note", session]);
}

for (const way of WAYS) {
  Deno.test(`installed by ${way.name}: svc up --demo and svc cc take a message, with this svc's hooks and MCP tools [pkg-installed]`, async (test) => {
    await withInstalled(way, async (launch) => {
      await test.step("svc up --demo", () => demoTakesMessage(launch, way.process));
      await test.step("svc cc", () => agentTakesMessage(launch));
    });
  });
}

Deno.test("npm install --global puts svc and its manual page where the shell and man look [pkg-installed]", () =>
  withFolder(async (folder) => {
    await must(["npm", "install", "--global", "--prefix", folder, "--loglevel=error", await tarball()]);
    assert.equal((await must([await nodeFromNpm(22), `${folder}/bin/svc`, "--version"])).trim(), VERSION);
    assert.match(await Deno.readTextFile(`${folder}/share/man/man1/svc.1`), /^\.TH SVC 1/m);
  }));
