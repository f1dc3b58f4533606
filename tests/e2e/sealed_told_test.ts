/** Agents' notifications and questions, and a paired phone's answers, with a relay that records everything, and with one that tampers. */
import assert from "node:assert/strict";
import { RelayError } from "../../src/client/relay_error.ts";
import { createRelayApi } from "../../src/client/api.ts";
import { loadConfig } from "../../src/home/config.ts";
import { hostKeys, hostSealing } from "../../src/home/host_sealing.ts";
import { homePaths } from "../../src/home/paths.ts";
import type { Answer } from "../../src/protocol/ask.ts";
import type { Push } from "../../src/protocol/push.ts";
import { runtime } from "../../src/runtime/deno.ts";
import { type Connected, connectMcp, runOut, textOf } from "../helpers/mcp_bench.ts";
import { startMcp } from "../helpers/mcp_process.ts";
import { runSvc } from "../helpers/program.ts";
import { pairScriptedPhone, type ScriptedPhone } from "../helpers/scripted_phone.ts";
import type { EchoSession, Stack } from "../helpers/stack.ts";
import { storedBy, type Tapped, tappedStack } from "../helpers/tapped_stack.ts";
import { until } from "../helpers/until.ts";

interface Scene {
  tapped: Tapped;
  stack: Stack;
  echo: EchoSession;
  phone: ScriptedPhone;
}

async function withScene(act: (scene: Scene) => Promise<void>, config = {}): Promise<void> {
  await using tapped = await tappedStack(config);
  const { stack } = tapped;
  const echo = await stack.echo();
  const phone = await pairScriptedPhone(await tapped.stack.pairLink());
  // The host completes the pairing when the phone first sends something.
  await phone.send(echo.name, "paired");
  await act({ tapped, stack, echo, phone });
}

/** Matches every text that is sealed here; the relay has its own table named "secrets". */
const TEXT = /secret(?!s)/;

/** Returns what crossed the wire and what the relay has stored. */
async function seenBy({ tap, stack }: Tapped): Promise<string> {
  return tap.seen() + await storedBy(stack);
}

function readOne(phone: ScriptedPhone, type: string): Promise<Push> {
  return until(`a push "${type}"`, async () => (await phone.read(type)).at(-1));
}

/** Runs an MCP server in this process, with the host's own keys and a clock that a test advances. */
function askerOf({ stack, tapped, echo }: Scene): Promise<Connected> {
  const settings = { baseUrl: stack.url, wsUrl: tapped.wsUrl, apiKey: stack.apiKey };
  return connectMcp({
    settings: () => Promise.resolve(settings),
    sealing: async () => {
      const paths = await homePaths({
        svcHome: stack.sandbox.svcHome,
        homeDirectory: stack.sandbox.home,
        cwd: "/",
        uid: runtime.uid,
      });
      const { files } = runtime;
      const { deviceId } = stack;
      const host = { files, paths, deviceId, hostname: Deno.hostname(), now: Date.now };
      const keys = hostKeys({ ...host, api: createRelayApi(settings) });
      return hostSealing(keys, { config: () => loadConfig(files, paths) });
    },
    session: echo.name,
    hostname: Deno.hostname(),
  });
}

const choice = (option: string): Answer => ({ kind: "choices", choices: [option] });

Deno.test("the end of a turn, a note and a question reach the paired phone, which answers, and the relay reads none of it [seal-answers, sec-passive-relay]", () =>
  withScene(async ({ tapped, stack, echo, phone }) => {
    const env = { SVC_SESSION: echo.name };
    const stdin = JSON.stringify({
      session_id: "1",
      cwd: stack.sandbox.project,
      last_assistant_message: "The secret of the last words.",
    });
    assert.equal((await runSvc(stack.sandbox, ["hook", "Stop", "codex"], { stdin, env })).code, 0);
    const stop = await readOne(phone, "agent.stop");
    assert.deepEqual([stop.body, stop.title], ["The secret of the last words.", "proj · Codex has finished"]);
    assert.equal(stop.data?.["cwd"], stack.sandbox.project);

    const { client } = await startMcp(stack.sandbox, { env });
    const note = { title: "A secret title", body: "A secret note.", level: "warning" };
    await client.callTool({ name: "svc_notify", arguments: note });
    const shown = await readOne(phone, "note");
    assert.deepEqual([shown.title, shown.body, shown.data], [note.title, note.body, { level: "warning" }]);

    const options = ["the secret option", "another option"];
    const call = client.callTool({ name: "svc_ask", arguments: { question: "A secret question?", options } });
    const asked = await readOne(phone, "ask");
    assert.deepEqual([asked.body, asked.data?.["options"]], ["A secret question?", options]);
    await phone.api.sendPush(await phone.answerOf(asked, choice("the secret option")));
    assert.equal(textOf(await call), "the secret option");
    await client.close();

    const seen = await seenBy(tapped);
    assert.ok(seen.includes(asked.id) && !TEXT.test(seen));
  }));

Deno.test("a sealed answer after the tool's time is typed into the session, once [seal-answers, mcp-late]", () =>
  withScene(async (scene) => {
    const { tapped, echo, phone } = scene;
    const { client, clock, served } = await askerOf(scene);
    const question = { name: "svc_prompt", arguments: { question: "Which branch?", timeoutSeconds: 120 } };
    const call = client.callTool(question);
    const asked = await readOne(phone, "ask");
    assert.match(textOf(await runOut(clock, call)), /will be typed in here/);
    const answer = await phone.answerOf(asked, { kind: "text", text: "the secret one;\nnot -mine" });
    await phone.api.sendPush(answer);
    await echo.prompts(2);
    await phone.api.sendPush(answer);
    await until("the answer's end", async () => (await phone.api.getPush(answer.id)).receipt.final);
    await phone.send(echo.name, "after it");
    assert.deepEqual(await echo.prompts(3), ["paired", "the secret one;\nnot -mine", "after it"]);
    assert.ok(!TEXT.test(await seenBy(tapped)));
    await client.close();
    await served;
  }, { requireEncryption: "psk" }));

Deno.test("a secret is requested only if it is sealed; a late question is withdrawn, and nothing is typed [mcp-input, seal-answers]", () =>
  withScene(async (scene) => {
    const { tapped, echo, phone } = scene;
    const { client, clock, served } = await askerOf(scene);
    const fields = [{ name: "password", type: "text", secret: true }];
    const ask = (question: string) =>
      client.callTool({ name: "svc_input", arguments: { question, fields, timeoutSeconds: 120 } });
    const answer: Answer = { kind: "values", values: { password: "the secret 42" } };
    const unfit = ask("Does it fit?");
    const question = await readOne(phone, "ask");
    const other: Answer = { kind: "values", values: { username: "me" } };
    await phone.api.sendPush(await phone.answerOf(question, other));
    assert.match(textOf(await unfit), /cannot be used.*does not fit/s);
    const first = ask("First?");
    const asked = await until("the first", async () => {
      const [, found] = await phone.read("ask");
      return found;
    });
    assert.deepEqual([asked.data?.["fields"], asked.agentSessionName], [fields, undefined]);
    assert.equal(asked.data?.["session"], echo.name, "to be shown");
    await phone.api.sendPush(await phone.answerOf(asked, answer));
    assert.equal(textOf(await first), "password: the secret 42");

    const second = ask("Second?");
    const late = await until("the second", async () => {
      const [, , found] = await phone.read("ask");
      return found;
    });
    assert.match(textOf(await runOut(clock, second)), /was withdrawn.*where a secret could be read/s);
    await until("the withdrawal", async () => (await phone.api.getPush(late.id)).receipt.final);
    const isClosed = (error: unknown): boolean => error instanceof RelayError && error.code === "ask_closed";
    await assert.rejects(phone.api.sendPush(await phone.answerOf(late, answer)), isClosed);
    assert.deepEqual(await echo.prompts(1), ["paired"]);
    assert.ok(!TEXT.test(await seenBy(tapped)));
    await client.close();
    await served;
  }));

Deno.test("a plain answer to a sealed question is refused, and one sealed for another question is ignored [seal-answers, hostile-relay]", () =>
  withScene(async (scene) => {
    const { phone } = scene;
    const { client, served } = await askerOf(scene);
    const ask = (question: string) =>
      client.callTool({ name: "svc_ask", arguments: { question, options: ["Yes", "No"] } });
    const calls = [ask("Harmless?"), ask("Delete everything?")];
    const questions = await until("both questions", async () => {
      const found = await phone.read("ask");
      return found.length === 2 && found;
    });
    const [harmless, harmful] = ["Harmless?", "Delete everything?"].map((text) =>
      questions.find(({ body }) => body === text)
    );
    assert.ok(harmless && harmful);
    const plain = { type: "ask.answer", inReplyTo: harmful.id, data: { choices: ["Yes"] } };
    const isRefused = (error: unknown): boolean =>
      error instanceof RelayError && error.code === "invalid_push";
    await assert.rejects(phone.api.sendPush(plain), isRefused);
    const yes = await phone.answerOf(harmless, choice("Yes"));
    await phone.api.sendPush({ ...yes, inReplyTo: harmful.id });
    const [, forged] = [calls[0], await calls[1]];
    assert.equal(forged?.isError, true);
    assert.match(textOf(forged ?? {}), /cannot be used.*Do not act on it/s);
    await phone.api.sendPush(await phone.answerOf(harmless, choice("No")));
    assert.equal(textOf(await calls[0] ?? {}), "No");
    await client.close();
    await served;
  }));
