/** Runs each program of `examples/` as its first lines say, on Deno from the checkout and on Node from the built package. */
import assert from "node:assert/strict";
import { createRelayApi } from "../../src/client/api.ts";
import { PAGE_LIMIT_DEFAULT } from "../../src/protocol/limits.ts";
import { textOf } from "../helpers/mcp_bench.ts";
import { startMcp } from "../helpers/mcp_process.ts";
import { libraryForNode } from "../helpers/node_build.ts";
import { FROM_CHECKOUT, type Launch, runSvc, startSvc } from "../helpers/program.ts";
import { makeSandbox } from "../helpers/sandbox.ts";
import { CHECKOUT } from "../helpers/sources.ts";
import { makeStack } from "../helpers/stack.ts";
import { type TapOptions, tapWire } from "../helpers/tapped_wire.ts";
import { SAFETY_LIMIT_MS, until } from "../helpers/until.ts";

type Example = (name: string) => Launch;

/** The library's default limit of a call is one minute. */
const NO_HURRY = { timeout: SAFETY_LIMIT_MS };

/** Node strips types without the first flag since 22.18. */
const NODE_FLAGS = ["--experimental-strip-types", "--disable-warning=ExperimentalWarning"];

/** Each test runs on both runtimes. */
function testOnBoth(title: string, run: (example: Example) => Promise<void>): void {
  Deno.test(`on Deno, ${title}`, () =>
    run((name) => FROM_CHECKOUT.with(-1, `${CHECKOUT}examples/${name}.ts`)));
  Deno.test(`on Node, ${title}`, async () => {
    const folder = await Deno.makeTempDir({ prefix: "svc-examples-" });
    try {
      const node = await libraryForNode(folder);
      await run((name) => [node, ...NODE_FLAGS, `${folder}/${name}.ts`]);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

testOnBoth("examples/send.ts types its text into the session and prints the receipt", async (example) => {
  await using stack = await makeStack();
  const session = await stack.echo();
  const env = { SVC_BASE_URL: stack.url, SVC_API_KEY: stack.apiKey };
  const sent = await runSvc(stack.sandbox, [session.name, "run the tests"], { launch: example("send"), env });
  assert.deepEqual(sent, { code: 0, stdout: "submitted\n", stderr: "" });
  assert.deepEqual(await session.prompts(1), ["run the tests"]);

  const wrong = await runSvc(stack.sandbox, ["svc-none", "hello"], { launch: example("send"), env });
  assert.deepEqual(wrong, { code: 1, stdout: "refused (no_such_session)\n", stderr: "" });
});

testOnBoth("examples/answer_bot.ts answers a question before and after it connects", async (example) => {
  await using stack = await makeStack({ listener: false });
  const agent = await startMcp(stack.sandbox, { env: { SVC_SESSION: "svc-proj" } });
  const ask = async (name: string, args: Record<string, unknown>): Promise<string> =>
    textOf(await agent.client.callTool({ name, arguments: args }, NO_HURRY));
  try {
    const early = ask("svc_ask", { question: "Deploy?", options: ["Yes", "No"] });
    await until(
      "the question",
      async () => (await stack.api.listPushes({ before: "end" })).pushes.length > 0,
    );
    for (let n = 0; n < PAGE_LIMIT_DEFAULT; n++) {
      await stack.api.sendPush({ type: "note", title: `Note ${n}` });
    }
    const env = { SVC_BASE_URL: stack.url, SVC_API_KEY: stack.apiKey };
    const bot = startSvc(stack.sandbox, [], { launch: example("answer_bot"), env });
    assert.match(await early, /Yes/);
    await bot.line(/^answered: Deploy\?$/);
    assert.match(await ask("svc_prompt", { question: "Which name?" }), /your own judgement/);
    bot.kill("SIGINT");
    assert.equal((await bot.exited).code, 0);
  } finally {
    await agent.client.close();
  }
});

/** Corrupts the first answer so that the relay refuses it; the length stays the same. */
function refuseFirstAnswer(): NonNullable<TapOptions["change"]> {
  let hasRefused = false;
  return (bytes, direction) => {
    const text = new TextDecoder().decode(bytes);
    if (hasRefused || direction === "down" || !text.includes('"ask.answer"')) return bytes;
    hasRefused = true;
    return new TextEncoder().encode(text.replace('"inReplyTo"', '"inReplyXx"'));
  };
}

testOnBoth("examples/answer_bot.ts answers the other questions when one answer fails", async (example) => {
  await using stack = await makeStack({ listener: false });
  const agent = await startMcp(stack.sandbox, { env: { SVC_SESSION: "svc-proj" } });
  const tap = tapWire({ port: Number(new URL(stack.url).port), change: refuseFirstAnswer() });
  const asked = ["One?", "Two?"].map((question) =>
    agent.client.callTool({ name: "svc_prompt", arguments: { question } }, NO_HURRY)
      .then(textOf, () => "unanswered")
  );
  try {
    await until(
      "both questions",
      async () => (await stack.api.listPushes({ before: "end" })).pushes.length === asked.length,
    );
    const env = { SVC_BASE_URL: `http://${tap.host}`, SVC_API_KEY: stack.apiKey };
    const bot = startSvc(stack.sandbox, [], { launch: example("answer_bot"), env });
    await bot.line(/^Cannot answer "(One|Two)\?": /);
    await bot.line(/^answered: (One|Two)\?$/);
    assert.match(await Promise.any(asked), /your own judgement/);
    bot.kill("SIGINT");
    assert.equal((await bot.exited).code, 0);
  } finally {
    await agent.client.close();
    await tap.close();
    await Promise.all(asked);
  }
});

testOnBoth(
  "examples/embedded_relay.ts serves on a free port, prints a note, and stops at Ctrl-C [lib-relay]",
  async (example) => {
    await using sandbox = await makeSandbox();
    const args = [`${sandbox.root}/relay-data`];
    const relay = startSvc(sandbox, args, { launch: example("embedded_relay") });
    const [, baseUrl = "", apiKey = ""] = await relay.line(/^SVC_BASE_URL=(\S+) SVC_API_KEY=(\S+)$/);
    await relay.line(/^connected$/);
    await createRelayApi({ baseUrl, apiKey }).sendPush({ type: "note", title: "Build", body: "done" });
    await relay.line(/^note: Build – done$/);
    relay.kill("SIGINT");
    assert.equal((await relay.exited).code, 0);
  },
);

testOnBoth(
  "examples/embedded_listener.ts types a message, refuses a second one, and stops at Ctrl-C [lib-listener]",
  async (example) => {
    await using stack = await makeStack({ listener: false });
    const { sandbox } = stack;
    const session = await stack.echo();
    await stack.svc("listener", "--stop");
    const env = { SVC_WS_URL: stack.wsUrl, SVC_API_KEY: stack.apiKey };
    const listener = startSvc(sandbox, [], { launch: example("embedded_listener"), env });
    await listener.line(/connected to/);
    assert.equal((await stack.send(session.name, "hello")).receipt.state, "submitted");
    const second = await runSvc(sandbox, [], { launch: example("embedded_listener"), env });
    assert.equal(second.code, 1);
    assert.match(second.stderr, /A listener is already running/);
    listener.kill("SIGINT");
    assert.equal((await listener.exited).code, 0);
  },
);

testOnBoth("examples/mcp_server.ts asks the phone, and ends with its input [lib-mcp]", async (example) => {
  await using stack = await makeStack({ listener: false });
  const env = { SVC_BASE_URL: stack.url, SVC_API_KEY: stack.apiKey, SVC_SESSION: "svc-proj" };
  const agent = await startMcp(stack.sandbox, { launch: example("mcp_server"), env });
  const question = { name: "svc_ask", arguments: { question: "Go?", options: ["Go"] } };
  const asked = agent.client.callTool(question, NO_HURRY);
  const push = await until("the question", async () => {
    const { pushes } = await stack.api.listPushes({ before: "end" });
    return pushes.find(({ push }) => push.type === "ask")?.push;
  });
  assert.equal(push.agentSessionName, "svc-proj");
  await stack.api.sendPush({ type: "ask.answer", inReplyTo: push.id, data: { choices: ["Go"] } });
  assert.equal(textOf(await asked), "Go");
  await agent.client.close();
});

testOnBoth(
  "examples/sealed_channel.ts opens what it sealed, but nothing for another session [lib-sealed]",
  async (example) => {
    await using sandbox = await makeSandbox();
    const { code, stdout, stderr } = await runSvc(sandbox, ["hello"], { launch: example("sealed_channel") });
    assert.deepEqual([code, stderr], [0, ""]);
    assert.deepEqual(stdout.split("\n").slice(1), [
      "the host opens: hello",
      "it does not open for another session",
      "the phone reads frame 0: hello",
      "",
    ]);
  },
);

testOnBoth(
  "examples/read_frames.ts prints frames as the wire has them, and why others are refused [lib-protocol]",
  async (example) => {
    await using sandbox = await makeSandbox();
    const stdin = '{"event":"ping"}\n{"event":"pong","data":1}\n{"event":"nothing"}\n';
    const ran = await runSvc(sandbox, [], { launch: example("read_frames"), stdin });
    assert.equal(
      ran.stdout,
      '{"event":"ping","data":{}}\nrefused: pong: /: must be an object\nrefused: nothing\n',
    );
  },
);
