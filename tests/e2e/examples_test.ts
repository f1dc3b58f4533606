/** Runs each program of `examples/` as its first lines say, against a relay on loopback. */
import assert from "node:assert/strict";
import { createRelayApi } from "../../src/client/api.ts";
import { textOf } from "../helpers/mcp_bench.ts";
import { startMcp } from "../helpers/mcp_process.ts";
import { FROM_CHECKOUT, type Launch, runSvc, startSvc } from "../helpers/program.ts";
import { makeSandbox } from "../helpers/sandbox.ts";
import { CHECKOUT } from "../helpers/sources.ts";
import { makeStack } from "../helpers/stack.ts";
import { type TapOptions, tapWire } from "../helpers/tapped_wire.ts";
import { until } from "../helpers/until.ts";

const example = (name: string): Launch => FROM_CHECKOUT.with(-1, `${CHECKOUT}examples/${name}.ts`);

Deno.test("examples/send.ts types its text into the session and prints the receipt", async () => {
  await using stack = await makeStack();
  const session = await stack.echo();
  const env = { SVC_BASE_URL: stack.url, SVC_API_KEY: stack.apiKey };
  const sent = await runSvc(stack.sandbox, [session.name, "run the tests"], { launch: example("send"), env });
  assert.deepEqual(sent, { code: 0, stdout: "submitted\n", stderr: "" });
  assert.deepEqual(await session.prompts(1), ["run the tests"]);

  const wrong = await runSvc(stack.sandbox, ["svc-none", "hello"], { launch: example("send"), env });
  assert.deepEqual(wrong, { code: 1, stdout: "refused (no_such_session)\n", stderr: "" });
});

Deno.test("examples/answer_bot.ts answers a question before and after it connects", async () => {
  await using stack = await makeStack({ listener: false });
  const agent = await startMcp(stack.sandbox, { env: { SVC_SESSION: "svc-proj" } });
  const ask = async (name: string, args: Record<string, unknown>): Promise<string> =>
    textOf(await agent.client.callTool({ name, arguments: args }));
  try {
    const early = ask("svc_ask", { question: "Deploy?", options: ["Yes", "No"] });
    await until(
      "the question",
      async () => (await stack.api.listPushes({ before: "end" })).pushes.length > 0,
    );
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

/** Makes the first answer one that the relay refuses; the length stays the same. */
function refuseFirstAnswer(): NonNullable<TapOptions["change"]> {
  let hasRefused = false;
  return (bytes, direction) => {
    const text = new TextDecoder().decode(bytes);
    if (hasRefused || direction === "down" || !text.includes('"ask.answer"')) return bytes;
    hasRefused = true;
    return new TextEncoder().encode(text.replace('"inReplyTo"', '"inReplyXx"'));
  };
}

Deno.test("examples/answer_bot.ts answers the other questions when one answer fails", async () => {
  await using stack = await makeStack({ listener: false });
  const agent = await startMcp(stack.sandbox, { env: { SVC_SESSION: "svc-proj" } });
  const tap = tapWire({ port: Number(new URL(stack.url).port), change: refuseFirstAnswer() });
  const asked = ["One?", "Two?"].map((question) =>
    agent.client.callTool({ name: "svc_prompt", arguments: { question } }).then(textOf, () => "unanswered")
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

Deno.test("examples/embedded_relay.ts serves on a free port, prints a note, and stops at Ctrl-C", async () => {
  await using sandbox = await makeSandbox();
  const args = [`${sandbox.root}/relay-data`];
  const relay = startSvc(sandbox, args, { launch: example("embedded_relay") });
  const [, baseUrl = "", apiKey = ""] = await relay.line(/^SVC_BASE_URL=(\S+) SVC_API_KEY=(\S+)$/);
  await relay.line(/^connected$/);
  await createRelayApi({ baseUrl, apiKey }).sendPush({ type: "note", title: "Build", body: "done" });
  await relay.line(/^note: Build – done$/);
  relay.kill("SIGINT");
  assert.equal((await relay.exited).code, 0);
});
