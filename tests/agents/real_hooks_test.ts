/** The real agents, set up by `svc setup`: the model learns who drives, the phones what the agent did, the tools run. */
import assert from "node:assert/strict";
import { agentProfile } from "../../src/agents/registry.ts";
import type { PushRecord } from "../../src/protocol/push.ts";
import { runSvc } from "../helpers/program.ts";
import { makeStack, type Stack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";
import { installAgent, REAL_AGENTS, type RealAgent } from "./install.ts";
import { type RunningAgent, startAgent } from "./start_agent.ts";

const SESSION = "svc-proj";
const PHONE = "drives this session from their phone";
const DESK = "REMOTE mode has ended";

/** With the real agent first on PATH, as a person would have it. */
async function setUp({ sandbox }: Stack, kind: RealAgent, env: Record<string, string>): Promise<void> {
  const programs = (await installAgent(kind)).replace(/\/[^/]*$/, "");
  const PATH = `${programs}:${sandbox.env.PATH}`;
  const { code, stdout, stderr } = await runSvc(sandbox, ["setup", "--agent", kind], {
    env: { ...env, PATH },
  });
  assert.equal(code, 0, stdout + stderr);
}

async function startSetUp(stack: Stack, kind: RealAgent): Promise<RunningAgent> {
  const { args, env } = agentProfile(kind);
  return await startAgent(kind, stack.sandbox, {
    session: SESSION,
    args,
    env: { ...env, SVC_SESSION: SESSION },
    prepare: (agentEnv) => setUp(stack, kind, agentEnv),
  });
}

/** Pastes and presses Enter as a person at the keyboard; resolves once the model has the prompt. */
async function typeAtDesk({ kind, pane, standIn }: RunningAgent, text: string): Promise<void> {
  const { readScreen } = agentProfile(kind);
  await until("the empty input line", async () => {
    const { state, draft } = readScreen(await pane.screen());
    return state === "idle" && draft === "";
  });
  await pane.paste(text);
  await until("the draft", async () => readScreen(await pane.screen()).draft === text);
  await until("the prompt at the model", async () => {
    if (readScreen(await pane.screen()).draft === text) await pane.press("Enter");
    return standIn.prompts().includes(text);
  });
}

/** How often the model has read the words in its last request. */
function timesRead({ standIn }: RunningAgent, words: string): number {
  return (standIn.bodies().at(-1) ?? "").split(words).length - 1;
}

async function pushes({ api }: Stack, type: string): Promise<PushRecord["push"][]> {
  const { pushes } = await api.listPushes({ before: "end" });
  return pushes.map(({ push }) => push).filter((push) => push.type === type);
}

/** As `until`, but asks a relay no more often than its limit allows. */
async function untilPushes(stack: Stack, type: string, count: number): Promise<PushRecord["push"][]> {
  let last = 0;
  return await until(`${count} of ${type}`, async () => {
    if (performance.now() < last + 200) return undefined;
    last = performance.now();
    const found = await pushes(stack, type);
    return found.length >= count ? found : undefined;
  });
}

for (const kind of Object.keys(REAL_AGENTS) as RealAgent[]) {
  Deno.test(`${kind}: told that the phone drives, then that someone is back, then nothing; its stops and its note reach the phone [other-agents, remote-told, rm-ends, type-stop, set-allowed]`, async () => {
    await using stack = await makeStack();
    await using agent = await startSetUp(stack, kind);

    const { receipt } = await stack.send(SESSION, "hello from the phone");
    assert.equal(receipt.state, "submitted");
    await until("the notice at the model", () => timesRead(agent, PHONE) === 1);
    const [stop] = await untilPushes(stack, "agent.stop", 1);
    assert.deepEqual([stop?.body, stop?.agentSessionName, stop?.data?.hookId], [
      "Done.",
      SESSION,
      "hook_test",
    ]);

    await typeAtDesk(agent, "typed at the desk");
    assert.deepEqual([timesRead(agent, PHONE), timesRead(agent, DESK)], [1, 1]);

    agent.standIn.callTool("svc_notify", { title: "A note", body: "from the model" });
    await typeAtDesk(agent, "tell my phone");
    const [note] = await untilPushes(stack, "note", 1);
    assert.deepEqual([note?.title, note?.body, note?.agentSessionName], [
      "A note",
      "from the model",
      SESSION,
    ]);
    assert.deepEqual([timesRead(agent, PHONE), timesRead(agent, DESK)], [1, 1]);
    await untilPushes(stack, "agent.stop", 3);
  });
}

/** What the screen shows once the agent has compacted its context. */
const COMPACTED: Partial<Record<RealAgent, RegExp>> = {
  cc: /Compacted/,
  codex: /Context compacted/,
  opencode: /Compaction · /,
};

for (const [kind, shown] of Object.entries(COMPACTED) as [RealAgent, RegExp][]) {
  Deno.test(`${kind}: told again after it compacted its context, and only then that someone is back [other-agents, rm-compact]`, async () => {
    await using stack = await makeStack();
    await using agent = await startSetUp(stack, kind);
    await stack.send(SESSION, "hello from the phone");
    await untilPushes(stack, "agent.stop", 1);
    await agent.pane.type("/compact");
    await until("the compaction", async () => {
      const { lines } = await agent.pane.screen();
      if (lines.some((line) => shown.test(line))) return true;
      if (lines.some((line) => /^\s*[❯›┃]\s+\/compact/u.test(line))) await agent.pane.press("Enter");
      return false;
    });
    await typeAtDesk(agent, "typed at the desk");
    assert.deepEqual([timesRead(agent, PHONE), timesRead(agent, DESK)], [1, 1]);
    const last = agent.standIn.bodies().at(-1) ?? "";
    assert.ok(last.indexOf(PHONE) < last.indexOf(DESK));
  });
}
