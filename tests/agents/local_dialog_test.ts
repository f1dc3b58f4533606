/** The person at the computer does not wait for svc: times from a tool call to the agent's own dialog, with svc and without. */
import assert from "node:assert/strict";
import { say } from "../../scripts/say.ts";
import { attachClient } from "../helpers/attached_client.ts";
import { makeStack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";
import { CardStage, pressUntilClosed } from "./card_stage.ts";
import { moment } from "./closed/agent_stage.ts";
import { processesOf } from "./closed/processes.ts";
import { quantile } from "./closed/race_account.ts";
import { callForCard } from "./for_card.ts";
import { REAL_AGENTS, type RealAgent } from "./install.ts";
import { runAgent, type SvcAgent } from "./run_agent.ts";
import { show } from "./table.ts";

const ROUNDS = Number(Deno.env.get("SVC_LOCAL_ROUNDS") ?? 10);
const KINDS = Object.keys(REAL_AGENTS) as RealAgent[];
const SIZE = { cols: 100, rows: 30 };

/** A model takes longer than this; Codex opens no dialog within a second of a key. */
const THINKING_MS = 1_500;

/** If the model has no prompt after this time, Enter was lost. */
const ENTER_LIMIT_MS = 10_000;

let calls = 0;

/**
 * Resolves with the milliseconds from the tool call at the agent to the dialog on its screen, and answers the dialog.
 */
async function dialogTime(agent: SvcAgent, enter: () => Promise<void>): Promise<number> {
  const { standIn, pane } = agent;
  const text = `round ${++calls}`;
  await agent.untilIdle();
  standIn.forget();
  const release = standIn.hold();
  standIn.callShell(`touch local-${calls}`);
  await pane.paste(text);
  await until("the draft", async () => (await agent.reading()).draft === text);
  await pane.quiet();
  await until("the prompt at the model", async () => {
    await enter();
    return await until("it", () => standIn.bodies().length > 0, ENTER_LIMIT_MS).catch(() => false);
  });
  await moment(performance.now() + THINKING_MS);
  release();
  const shownAt = await untilShown(agent);
  const called = standIn.exchanges().find(({ answer }) => answer === "tools");
  assert.ok(called);
  await pressUntilClosed(agent, "Enter");
  return shownAt - called.answeredAt;
}

/** Resolves with the time of the first check in which the screen shows a dialog. */
function untilShown(agent: SvcAgent): Promise<number> {
  return until("the dialog", async () => {
    const at = performance.now();
    return (await agent.reading()).focus === "dialog" && at;
  });
}

/** Resolves with the milliseconds from the death of a hook that waits for the phone to the dialog on the screen. */
async function timeAfterKill(stage: CardStage): Promise<number> {
  const { agent, stack } = stage;
  const text = callForCard(agent, `killed-${++calls}`);
  await stage.start(`round ${calls}`);
  await stage.untilCard(text);
  const all = await processesOf(stack.sandbox.root);
  // Spares the shell of Copilot's hook, whose death Copilot would treat as a refusal.
  const hooks = all.filter(({ argv, name }) => argv.at(-1) === "cards" && name !== "svc" && name !== "sh");
  assert.ok(hooks.length > 0, "no hook waits");
  const killedAt = performance.now();
  for (const { pid } of hooks) Deno.kill(pid, "SIGKILL");
  const ms = Math.max(0, await untilShown(agent) - killedAt);
  await pressUntilClosed(agent, "Enter");
  return ms;
}

const text = (times: readonly number[]): string =>
  `${Math.round(quantile(times, 0.5))} ms (at most ${Math.round(Math.max(...times))})`;

for (const kind of KINDS) {
  Deno.test(`${kind}: its dialog opens at the computer with svc as without, also when relay, listener or hook has gone [other-agents, card-local]`, async () => {
    await using bareStack = await makeStack();
    await using bare = await runAgent(kind, bareStack, { setup: false });
    await using stage = await CardStage.open(kind, { allowRemoteApproval: "once" });
    const { agent, stack } = stage;
    const without: number[] = [];
    const figures: string[] = [];
    const measure = async (what: string, enter = () => agent.pane.press("Enter")): Promise<void> => {
      const times: number[] = [];
      // Measured alternately, so that other load slows both.
      for (let round = 0; round < ROUNDS; round++) {
        times.push(await dialogTime(agent, enter));
        if (round % 3 === 0) without.push(await dialogTime(bare, () => bare.pane.press("Enter")));
      }
      figures.push(`${what} ${text(times)}`);
    };
    const killed: number[] = [];
    for (let round = 0; round < Math.ceil(ROUNDS / 2); round++) killed.push(await timeAfterKill(stage));
    {
      using client = await attachClient(stack.sandbox, { session: agent.session, ...SIZE });
      await measure("attached", () => client.press("\r"));
    }
    stack.relay.kill("SIGKILL");
    await until("the loss of the relay", () => /disconnected/.test(stack.listener.output()));
    await measure("relay gone");
    stack.listener.kill("SIGKILL");
    await stack.listener.exited;
    await measure("listener dead");
    const all = [`without svc ${text(without)} of ${without.length}`, ...figures].join(", ");
    say(`local ${kind}: ${all} of ${ROUNDS} each, after the hook was killed ${text(killed)}`);
    show(kind, "opens", all);
  });
}
