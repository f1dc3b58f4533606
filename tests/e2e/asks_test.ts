/** An agent's question, from its tool to a phone and back, with real relay, listener, tmux and `svc mcp`. */
import assert from "node:assert/strict";
import { RelayError } from "../../src/client/relay_error.ts";
import { RelayLink } from "../../src/client/relay_link.ts";
import type { EventData } from "../../src/protocol/frames.ts";
import { lateAnswerId } from "../../src/protocol/late_answer.ts";
import type { Push } from "../../src/protocol/push.ts";
import type { Receipt } from "../../src/protocol/receipt.ts";
import { connectMcp, textOf } from "../helpers/mcp_bench.ts";
import { type McpProcess, startMcp } from "../helpers/mcp_process.ts";
import { type EchoSession, makeStack, type Stack } from "../helpers/stack.ts";
import { SAFETY_LIMIT_MS, until } from "../helpers/until.ts";

interface Scene {
  stack: Stack;
  echo: EchoSession;
  /** Starts `svc mcp` as the session's agent would. */
  agent(): Promise<McpProcess>;
}

async function withScene(act: (scene: Scene) => Promise<void>): Promise<void> {
  await using stack = await makeStack();
  const echo = await stack.echo();
  await until(
    "the session at the relay",
    async () =>
      (await stack.api.sessions()).devices.some(({ sessions }) =>
        sessions.some(({ name }) => name === echo.name)
      ),
  );
  await act({ stack, echo, agent: () => startMcp(stack.sandbox, { env: { SVC_SESSION: echo.name } }) });
}

async function ask(
  { client }: Pick<McpProcess, "client">,
  question: string,
  more: Record<string, unknown> = {},
): Promise<string> {
  const call = { name: "svc_ask", arguments: { question, ...more } };
  return textOf(await client.callTool(call, { timeout: SAFETY_LIMIT_MS }));
}

/** Resolves with the open question that has this text, as a phone receives it. */
function asked({ api }: Stack, text: string): Promise<Push> {
  return until(`the question "${text}"`, async () => {
    const { pushes } = await api.listPushes({ before: "end" });
    return pushes.find(({ push, receipt }) => push.body === text && push.type === "ask" && !receipt.final)
      ?.push;
  });
}

async function answer(
  { api }: Stack,
  { id }: Push,
  body: string,
  own: string = crypto.randomUUID(),
): Promise<string> {
  return (await api.sendPush({ id: own, type: "ask.answer", inReplyTo: id, body })).id;
}

/** Resolves with the receipt of the message that carries this late answer, once it is final. */
async function typed({ api }: Stack, answerId: string): Promise<Receipt> {
  const id = await lateAnswerId(answerId);
  return await until("the end of its message", async () => {
    const found = await api.getPush(id).catch(() => undefined);
    return found?.receipt.final === true ? found.receipt : undefined;
  });
}

/** The environment of the session's agent. */
async function paneOf({ sandbox }: Stack, { name }: EchoSession): Promise<Record<string, string>> {
  const pane = (await sandbox.tmux("display-message", "-p", "-t", `=${name}:`, "#{pane_id}")).trim();
  return { SVC_SESSION: name, TMUX: `${sandbox.tmuxSocket},1,0`, TMUX_PANE: pane };
}

/** Renames the session to `work`, and gives its name to another one. */
async function rename({ sandbox }: Stack, { name }: EchoSession): Promise<void> {
  await sandbox.tmux("rename-session", "-t", `=${name}`, "work");
  await sandbox.newSession(name, ["cat"]);
}

/** Opens a phone's socket and records every push and receipt that it receives. */
function listen(
  { wsUrl, apiKey }: Stack,
): { pushes: Push[]; updates: EventData<"push.updated">[]; link: RelayLink } {
  const pushes: Push[] = [];
  const updates: EventData<"push.updated">[] = [];
  const link = new RelayLink({
    wsUrl,
    apiKey,
    hello: () => ({
      role: "phone",
      deviceId: "dev_phone_1",
      name: "phone",
      version: "1.0.0",
      capabilities: [],
    }),
    onFrame: (frame) => {
      if (frame.event === "push.new") pushes.push(frame.data);
      if (frame.event === "push.updated") updates.push(frame.data);
    },
    onState: () => {},
  });
  link.start();
  return { pushes, updates, link };
}

Deno.test("a question is answered from a phone in time: the tool gets the answer, and nothing is typed [flow-3, mcp-ask, type-ask, type-answer]", () =>
  withScene(async ({ stack, echo, agent }) => {
    const phone = listen(stack);
    try {
      await until("the phone's link", () => phone.link.connected);
      const mcp = await agent();
      const waiting = ask(mcp, "Deploy?", { options: ["Yes", "No"] });
      const question = await until(
        "the question, live",
        () => phone.pushes.find(({ body }) => body === "Deploy?"),
      );
      assert.equal(question.agentSessionName, echo.name);
      await stack.api.sendPush({ type: "ask.answer", inReplyTo: question.id, data: { choices: ["Yes"] } });
      assert.equal(await waiting, "Yes");
      await until(
        "the answer, live",
        () => phone.updates.some(({ id, receipt }) => id === question.id && receipt.state === "answered"),
      );
      const note = mcp.client.callTool({
        name: "svc_notify",
        arguments: { title: "Deployed", body: "All green" },
      });
      assert.notEqual((await note).isError, true);
      await until(
        "the note, live",
        () => phone.pushes.some(({ type, title }) => type === "note" && title === "Deployed"),
      );
      await mcp.client.close();
      assert.deepEqual(await echo.prompts(), []);
    } finally {
      phone.link.close();
    }
  }));

Deno.test("a renamed session asks under its new name, even if another session has the old one, and a late answer reaches it [mcp-ask, mcp-late]", () =>
  withScene(async ({ stack, echo }) => {
    const mcp = await startMcp(stack.sandbox, { env: await paneOf(stack, echo) });
    const before = ask(mcp, "Before?");
    const first = await asked(stack, "Before?");
    await answer(stack, first, "in time");
    assert.deepEqual([await before, first.agentSessionName], ["in time", echo.name]);
    await rename(stack, echo);
    const after = ask(mcp, "After?").catch(() => "killed");
    const question = await asked(stack, "After?");
    assert.equal(question.agentSessionName, "work");
    await mcp.kill();
    await after;
    assert.equal((await typed(stack, await answer(stack, question, "too late"))).state, "submitted");
    assert.deepEqual(await echo.prompts(1), ["too late"]);
    assert.doesNotMatch(await stack.sandbox.screen(echo.name), /too late/);
  }));

Deno.test("a late answer follows the agent that asked, although its session was renamed after the question and another one has the old name [mcp-late]", () =>
  withScene(async ({ stack, echo }) => {
    const mcp = await startMcp(stack.sandbox, { env: await paneOf(stack, echo) });
    const calls = ["First?", "Second?"].map((text) => ask(mcp, text).catch(() => "killed"));
    const [first, second] = [await asked(stack, "First?"), await asked(stack, "Second?")];
    await until("the listener's news of the questions", async () => {
      const { devices } = await stack.api.sessions();
      return devices.some(({ sessions }) =>
        sessions.some(({ name, state }) => name === echo.name && state === "waiting")
      );
    });
    await mcp.kill();
    await Promise.all(calls);
    await stack.sandbox.tmux("rename-session", "-t", `=${echo.name}`, "work");
    assert.equal((await typed(stack, await answer(stack, first, "to the renamed one"))).state, "submitted");
    await stack.sandbox.newSession(echo.name, ["cat"]);
    assert.equal((await typed(stack, await answer(stack, second, "to it again"))).state, "submitted");
    assert.deepEqual(await echo.prompts(2), ["to the renamed one", "to it again"]);
    assert.doesNotMatch(await stack.sandbox.screen(echo.name), /again/);
  }));

Deno.test("an agent can still ask after its folder was deleted [mcp-ask]", () =>
  withScene(async ({ stack, echo }) => {
    const cwd = await Deno.makeTempDir({ dir: stack.sandbox.root });
    const agent = await startMcp(stack.sandbox, { env: { SVC_SESSION: echo.name }, cwd });
    for (const question of ["before", "after"]) {
      const call = ask(agent, question);
      await answer(stack, await asked(stack, question), "yes");
      assert.equal(await call, "yes");
      if (question === "before") await Deno.remove(cwd);
    }
    await agent.client.close();
  }));

Deno.test("an answer after the tool's time is typed into the session, exactly once [mcp-late, mcp-timeout, flow-3]", () =>
  withScene(async ({ stack, echo }) => {
    const { url: baseUrl, wsUrl, apiKey } = stack;
    const settings = (): Promise<{ baseUrl: string; wsUrl: string; apiKey: string }> =>
      Promise.resolve({ baseUrl, wsUrl, apiKey });
    const { client, clock, served } = await connectMcp({
      settings,
      session: echo.name,
      hostname: Deno.hostname(),
    });
    const waiting = ask({ client }, "Which branch?", { timeoutSeconds: 120 });
    const question = await asked(stack, "Which branch?");
    let told: string | undefined;
    void waiting.then((text) => told = text);
    // The relay has the question before the asker knows it, and the asker's time starts only then.
    await until("the end of its time", () => {
      clock.advance(120_000);
      return told !== undefined;
    });
    assert.match(await waiting, /will be typed in here/);
    const own = crypto.randomUUID();
    await answer(stack, question, "the main one;\nnot -mine", own);
    await echo.prompts(1);
    assert.equal(await answer(stack, question, "the main one;\nnot -mine", own), own);
    await until("the answer's end", async () => (await stack.api.getPush(own)).receipt.final);
    const second = await stack.send(echo.name, "and a message after it");
    assert.equal(second.receipt.state, "submitted");
    assert.deepEqual(await echo.prompts(2), ["the main one;\nnot -mine", "and a message after it"]);
    await client.close();
    await served;
  }));

Deno.test("an answer to an agent that was killed is typed into its session [mcp-late]", () =>
  withScene(async ({ stack, echo, agent }) => {
    const mcp = await agent();
    const waiting = ask(mcp, "Still there?").catch(() => "killed");
    const question = await asked(stack, "Still there?");
    await mcp.kill();
    assert.equal(await waiting, "killed");
    await answer(stack, question, "typed instead");
    assert.deepEqual(await echo.prompts(1), ["typed instead"]);
  }));

Deno.test("a late answer is not typed into a newer session with the name of the one that asked [mcp-late]", () =>
  withScene(async ({ stack, echo }) => {
    const { sandbox } = stack;
    const mcp = await startMcp(sandbox, { env: await paneOf(stack, echo) });
    const calls = ["Before?", "After?"].map((text) => ask(mcp, text).catch(() => "killed"));
    const [before, after] = [await asked(stack, "Before?"), await asked(stack, "After?")];
    await mcp.kill();
    await Promise.all(calls);
    const answered = async (question: Push, text: string): Promise<Receipt> =>
      await typed(stack, await answer(stack, question, text));
    assert.equal((await answered(before, "to the one that asked")).state, "submitted");
    // Another session keeps the tmux server running, and with it the numbering of panes.
    await sandbox.newSession("other", ["cat"]);
    await sandbox.tmux("kill-session", "-t", `=${echo.name}`);
    const later = await stack.echo();
    assert.equal(later.name, echo.name);
    const { state, reason } = await answered(after, "to nobody");
    assert.deepEqual([state, reason], ["refused", "session_changed"]);
    assert.deepEqual([await echo.prompts(1), await later.prompts()], [["to the one that asked"], []]);
  }));

Deno.test("a relay killed while an agent waits loses neither the question nor the answer [mcp-survives]", () =>
  withScene(async ({ stack, echo, agent }) => {
    const mcp = await agent();
    const waiting = ask(mcp, "After the crash?");
    const question = await asked(stack, "After the crash?");
    stack.relay.kill("SIGKILL");
    await stack.relay.exited;
    await stack.startRelay();
    await answer(stack, question, "yes");
    assert.equal(await waiting, "yes");
    await mcp.client.close();
    assert.deepEqual(await echo.prompts(), []);
  }));

Deno.test("when two phones answer at once, one wins and the other is notified", () =>
  withScene(async ({ stack, echo, agent }) => {
    const mcp = await agent();
    for (let round = 0; round < 5; round++) {
      const waiting = ask(mcp, `Round ${round}?`);
      const question = await asked(stack, `Round ${round}?`);
      const texts = ["from one", "from the other"];
      const answers = await Promise.allSettled(texts.map((text) => answer(stack, question, text)));
      const winners = texts.filter((_, place) => answers[place]?.status === "fulfilled");
      assert.deepEqual(winners, [await waiting]);
      const refused = answers.find((one) => one.status === "rejected");
      assert.ok(refused?.reason instanceof RelayError && refused.reason.code === "ask_closed");
    }
    await mcp.client.close();
    assert.deepEqual(await echo.prompts(), []);
  }));
