/** Five real agents in one home ask the person: answered from the phone in time, and after they had stopped waiting. */
import assert from "node:assert/strict";
import type { Push } from "../../src/protocol/push.ts";
import { ASK_TIMEOUT_MIN_SECONDS } from "../../src/protocol/limits.ts";
import { makeStack, type Stack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";
import { REAL_AGENTS, type RealAgent } from "./install.ts";
import { sendMessage, untilFinal, untilTold } from "./phone.ts";
import { runAgent, type SvcAgent } from "./run_agent.ts";
import { show } from "./table.ts";

/** Below the limit of messages per minute. */
const ROUNDS_MAX = 20;
/** The longest time after which an agent's tool stops waiting. */
const TIME_OVER_MS = (ASK_TIMEOUT_MIN_SECONDS + 60) * 1_000;

/** Repeats a message until the agent offers the tool, which it does once its server is up. */
async function untilOffered(stack: Stack, { session, standIn }: SvcAgent): Promise<void> {
  const isOffered = (): boolean => standIn.tools().some((name) => name.endsWith("svc_ask"));
  for (let round = 1; round <= ROUNDS_MAX && !isOffered(); round++) {
    const before = standIn.bodies().length;
    await sendMessage(stack, session, `are you ready? ${round}`);
    await until("a request to the model", () => standIn.bodies().length > before, 60_000);
  }
  assert.ok(isOffered(), `the tools are ${standIn.tools()}`);
}

/** Makes the model call svc_ask at the next message; resolves with the question as the phone has it. */
async function letAsk(
  stack: Stack,
  { session, standIn }: SvcAgent,
  ask: { question: string } & Record<string, unknown>,
): Promise<Push> {
  standIn.callTool("svc_ask", ask);
  await sendMessage(stack, session, `ask me: ${ask.question}`);
  return await untilTold(() => `the question "${ask.question}"`, async () => {
    const { pushes } = await stack.api.listPushes({ before: "end" });
    return pushes.map(({ push }) => push).find(({ type, body }) => type === "ask" && body === ask.question);
  });
}

function untilRead({ standIn }: SvcAgent, text: string, limitMs = 60_000): Promise<unknown> {
  const isRead = (): boolean => standIn.bodies().some((body) => body.includes(text));
  return until(`"${text}" at the model`, isRead, limitMs);
}

Deno.test("five real agents ask the person: answered in time, and late [other-agents, flow-3, mcp-ask, mcp-late, set-timeout]", async (t) => {
  await using stack = await makeStack();
  await using ends = new AsyncDisposableStack();
  const asking: { kind: RealAgent; agent: SvcAgent; question: Push }[] = [];
  for (const kind of Object.keys(REAL_AGENTS) as RealAgent[]) {
    await t.step(`${kind}: answered in time, the model reads the answer`, async () => {
      const agent = ends.use(await runAgent(kind, stack));
      await untilOffered(stack, agent);
      await agent.untilIdle();
      const options = [`yes, said ${kind}'s phone`, "no"];
      const { id, agentSessionName } = await letAsk(stack, agent, {
        question: `May ${kind} go on?`,
        options,
      });
      assert.equal(agentSessionName, agent.session);
      await stack.api.sendPush({ type: "ask.answer", inReplyTo: id, data: { choices: [options[0]] } });
      await untilRead(agent, options[0] ?? "");
      await agent.untilIdle();
      show(kind, "asked");
      const question = await letAsk(stack, agent, {
        question: `What shall ${kind} do next?`,
        timeoutSeconds: ASK_TIMEOUT_MIN_SECONDS,
      });
      asking.push({ kind, agent, question });
    });
  }
  for (const { kind, agent, question } of asking) {
    await t.step(`${kind}: answered late, the answer is typed in and submitted`, async () => {
      await untilRead(agent, "a late answer will be typed in", TIME_OVER_MS);
      await agent.untilIdle();
      const answer = `late, for ${kind};\nin two lines`;
      const { id } = await stack.api.sendPush({ type: "ask.answer", inReplyTo: question.id, body: answer });
      await until("the answer at the model", () => agent.standIn.prompts().includes(answer), 60_000);
      const { state } = await untilFinal(stack, id);
      show(kind, "late", `after ${ASK_TIMEOUT_MIN_SECONDS} s`);
      assert.notEqual(state, "refused");
    });
  }
});
