/** Web Push with the real relay, listener and MCP server, and a local push service: from an agent's event to the phone's notification. */
import assert from "node:assert/strict";
import { say } from "../../scripts/say.ts";
import { createRelayApi } from "../../src/client/api.ts";
import { createWebPushApi } from "../../src/client/web_push_api.ts";
import { openHostPush } from "../../src/crypto/host_push.ts";
import type { Push } from "../../src/protocol/push.ts";
import type { WebPushPayload } from "../../src/protocol/web_push.ts";
import { createKey, DEFAULT_ACCOUNT } from "../../src/relay/api_keys.ts";
import { startRelay } from "../../src/relay/server.ts";
import { openRelayStore } from "../../src/store/open.ts";
import { textOf } from "../helpers/mcp_bench.ts";
import { startMcp } from "../helpers/mcp_process.ts";
import { runSvc } from "../helpers/program.ts";
import { openToken, PushVendor, type Subscriber } from "../helpers/push_vendor.ts";
import { pairScriptedPhone, type ScriptedPhone } from "../helpers/scripted_phone.ts";
import { type EchoSession, makeStack, type Stack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";

interface RungPhone {
  phone: ScriptedPhone;
  subscriber: Subscriber;
}

interface Scene {
  stack: Stack;
  vendor: PushVendor;
  echo: EchoSession;
  phones: RungPhone[];
}

async function withScene(act: (scene: Scene) => Promise<void>): Promise<void> {
  await using vendor = new PushVendor();
  await using stack = await makeStack({ server: ["--web-push-loopback"] });
  const echo = await stack.echo();
  const phones: RungPhone[] = [];
  for (const name of ["first", "second"]) {
    const phone = await pairScriptedPhone(await stack.pairLink(), { name });
    // The host completes the pairing when the phone first sends something.
    await phone.send(echo.name, "paired");
    const subscriber = await vendor.subscribe(name);
    const api = createWebPushApi({ baseUrl: stack.url, apiKey: phone.apiKey });
    await api.saveWebPush(phone.deviceId, subscriber.subscription);
    phones.push({ phone, subscriber });
  }
  await act({ stack, vendor, echo, phones });
}

/** Resolves with the phone's messages, once there are this many. */
async function messages(
  { vendor }: Scene,
  { subscriber }: RungPhone,
  atLeast: number,
): Promise<WebPushPayload[]> {
  return await until(`${atLeast} messages`, async () => {
    const sent = await vendor.sentTo(subscriber);
    return sent.length >= atLeast && sent;
  });
}

/** Returns the text that the phone's service worker would show. */
async function textIn(
  payload: WebPushPayload | undefined,
  { phone: { deviceId, host, keyPair } }: RungPhone,
): Promise<Push | undefined> {
  assert.ok(payload?.kind === "ring");
  const { id, type, session, sealedFor } = payload;
  const push = { id, type, from: "", createdAt: 0, expiresAt: 0 };
  const whole = {
    ...push,
    ...(session ? { agentSessionName: session } : {}),
    ...(sealedFor ? { sealedFor } : {}),
  };
  return await openHostPush(whole, { phone: deviceId, keyPair, secret: host.secret });
}

async function hook({ stack, echo }: Scene, event: string, input: Record<string, unknown>): Promise<void> {
  const stdin = JSON.stringify({ session_id: "1", cwd: stack.sandbox.project, ...input });
  const ran = await runSvc(stack.sandbox, ["hook", event, "codex"], {
    stdin,
    env: { SVC_SESSION: echo.name },
  });
  assert.equal(ran.code, 0, ran.stderr);
}

Deno.test("a relay whose https address becomes known after its start, as with a tunnel, gives it to push services as its contact [push-contact]", async () => {
  await using vendor = new PushVendor();
  const dataDir = await Deno.makeTempDir({ prefix: "svc-contact-" });
  const relay = await startRelay({ listen: "127.0.0.1:0", dataDir, webPushLoopback: true });
  try {
    relay.setPublicUrl("https://tunnel.example");
    const store = await openRelayStore(dataDir);
    const scopes = ["push:send", "push:read"] as const;
    const host = await createKey(store, { name: "host", scopes });
    await store.close();
    const { code } = await createRelayApi({ baseUrl: relay.url, apiKey: host.key }).createPairing();
    const claimed = await createRelayApi({ baseUrl: relay.url }).claimPairing(code, { name: "phone" });
    const api = createWebPushApi({ baseUrl: relay.url, apiKey: claimed.apiKey });
    await api.saveWebPush(claimed.deviceId, (await vendor.subscribe("phone")).subscription);
    assert.equal((await api.testWebPush(claimed.deviceId, { id: crypto.randomUUID() })).status, 201);
    const { claims } = await openToken(vendor.messages[0]?.headers ?? {});
    assert.equal(claims["sub"], "https://tunnel.example");
  } finally {
    await relay.stop();
    await Deno.remove(dataDir, { recursive: true });
  }
});

Deno.test("a turn's end, a dialog, a note and a question reach every phone's push service, sealed, and a subagent's end does not [push-rings, push-phones, push-sealed, push-subagent, seal-web-push]", () =>
  withScene(async (scene) => {
    const { stack, echo, phones } = scene;
    const agent = await startMcp(stack.sandbox, { env: { SVC_SESSION: echo.name } });
    try {
      await hook(scene, "Stop", { last_assistant_message: "A subagent's words.", agent_id: "a1" });
      await hook(scene, "Stop", { last_assistant_message: "The last words." });
      await hook(scene, "PermissionRequest", { tool_name: "Bash", tool_input: { command: "rm -rf build" } });
      await until("both", async () => (await messages(scene, phones[0] as RungPhone, 2)).length);
      await agent.client.callTool({ name: "svc_notify", arguments: { title: "A title", body: "A note." } });
      const asked = agent.client.callTool({
        name: "svc_ask",
        arguments: { question: "Deploy?", options: ["Yes", "No"] },
      });
      asked.catch(() => {});
      const texts: (string | undefined)[][] = [];
      for (const one of phones) {
        const sent = await messages(scene, one, 4);
        const opened = await Promise.all(sent.map((payload) => textIn(payload, one)));
        texts.push(opened.map((push) => push?.body).sort());
      }
      assert.deepEqual(texts[0], ["A note.", "Bash: rm -rf build", "Deploy?", "The last words."]);
      assert.deepEqual(texts[1], texts[0]);

      const [first, second] = phones;
      assert.ok(first && second);
      const [question] = await until("the question", async () => {
        const read = await first.phone.read("ask");
        return read.length > 0 && read;
      });
      assert.ok(question);
      const rung = async (): Promise<string[]> =>
        Object.keys((await stack.api.getPush(question.id)).receipt.shown ?? {}).sort();
      // Otherwise the question would be answered, and withdrawn from both, while its notifications were being sent.
      await until("the relay to know that both were sent", async () => (await rung()).length === 2);
      await first.phone.api.sendPush(
        await first.phone.answerOf(question, { kind: "choices", choices: ["Yes"] }),
      );
      assert.equal(textOf(await asked), "Yes");
      const [, , , , withdrawal] = await messages(scene, second, 5);
      assert.deepEqual([withdrawal?.kind, withdrawal?.id], ["withdraw", question.id]);
      assert.equal((await messages(scene, first, 4)).length, 4, "the phone that answered is left alone");
      assert.deepEqual(await rung(), phones.map(({ phone }) => phone.deviceId).sort());
    } finally {
      await agent.client.close();
    }
  }));

/** How many events are measured. */
const ROUNDS = 20;

Deno.test("the time from an event to the push service", () =>
  withScene(async (scene) => {
    const { vendor, phones: [phone] } = scene;
    assert.ok(phone);
    const times: number[] = [];
    for (let round = 1; round <= ROUNDS; round++) {
      const began = Date.now();
      await hook(scene, "Stop", { last_assistant_message: `Round ${round}.` });
      await messages(scene, phone, round);
      const { pathname } = new URL(phone.subscriber.subscription.endpoint);
      const last = vendor.messages.filter(({ path }) => path === pathname).at(-1);
      times.push((last?.at ?? Infinity) - began);
    }
    times.sort((one, other) => one - other);
    const [median = 0, most = 0] = [times[ROUNDS / 2], times.at(-1)];
    // The figure that "deno task prove phone" prints.
    say(`event to push service: median ${median} ms, longest ${most} ms of ${ROUNDS}`);
  }));

Deno.test("a dead endpoint is removed, and a question that nobody saw goes to the second outlet, without its text [push-dead, push-outlet]", () =>
  withScene(async (scene) => {
    const { stack, vendor, echo, phones } = scene;
    vendor.answers.push({ status: 410 }, { status: 410 });
    await stack.api.sendPush({ type: "note", body: "x" });
    await until("both messages", () => vendor.messages.length === 2);
    const store = await openRelayStore(`${stack.sandbox.svcHome}/server`);
    await until("no subscription", async () => (await store.listWebPush(DEFAULT_ACCOUNT)).size === 0);
    await store.close();
    const outlet: string[] = [];
    const options = { hostname: "127.0.0.1", port: 0, onListen: () => undefined };
    await using server = Deno.serve(options, async (request) => {
      outlet.push(await request.text());
      return new Response();
    });
    const path = `${stack.sandbox.svcHome}/config.json`;
    const config = JSON.parse(await Deno.readTextFile(path));
    const secondOutlet = { webhook: `http://127.0.0.1:${server.addr.port}/hook`, afterSeconds: 10 };
    await Deno.writeTextFile(path, JSON.stringify({ ...config, secondOutlet }));
    const agent = await startMcp(stack.sandbox, { env: { SVC_SESSION: echo.name } });
    try {
      const abort = new AbortController();
      const asked = agent.client.callTool(
        { name: "svc_ask", arguments: { question: "Is anybody there?" } },
        { signal: abort.signal },
      );
      asked.catch(() => {});
      const [text = ""] = await until("the outlet", () => outlet.length > 0 && outlet);
      const [question] = await phones[0]?.phone.read("ask") ?? [];
      assert.equal(JSON.parse(text).id, question?.id);
      assert.ok(!text.includes("anybody"));
      assert.equal(vendor.messages.length, 2, "no message goes to a dead endpoint");
      abort.abort();
    } finally {
      await agent.client.close();
    }
  }));
