/** A real agent's permission dialog: a message waits for it, and never answers it. */
import assert from "node:assert/strict";
import { agentProfile } from "../../src/agents/registry.ts";
import { makeInjectBench } from "../helpers/inject_bench.ts";
import { makeSandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";
import { REAL_AGENTS, type RealAgent } from "./install.ts";
import { REAL_CLOCK } from "./real_clock.ts";
import { type RunningAgent, startAgent } from "./start_agent.ts";

/** Submits a prompt to which the model answers with a command that the agent must ask for. */
async function openDialog({ kind, pane, standIn }: RunningAgent, command: string): Promise<void> {
  const { readScreen } = agentProfile(kind);
  standIn.callShell(command);
  await pane.paste("clean up");
  await until("the draft", async () => readScreen(await pane.screen()).draft === "clean up");
  await until("the permission dialog", async () => {
    const { dialog, draft } = readScreen(await pane.screen());
    if (draft === "clean up") await pane.press("Enter");
    return dialog;
  });
}

for (const kind of Object.keys(REAL_AGENTS) as RealAgent[]) {
  Deno.test(`${kind}: a message waits while the permission dialog is open [inj-dialog]`, async () => {
    await using sandbox = await makeSandbox();
    await using agent = await startAgent(kind, sandbox);
    await using bench = makeInjectBench(sandbox, REAL_CLOCK);
    const kept = `${sandbox.project}/build`;
    await Deno.mkdir(kept);
    await openDialog(agent, "rm -rf build");

    const sending = bench.send(agent.pane.session, "please stop", { sendAnyway: true });
    await until("the hold", () => bench.events.includes("held dialog_open"));
    assert.deepEqual(bench.events, ["held dialog_open"]);
    await agent.pane.press("Escape");

    const outcome = await sending;
    assert.ok(["submitted", "typed"].includes(outcome.state), JSON.stringify(outcome));
    await until("the message at the model", () => agent.standIn.prompts().includes("please stop"));
    assert.ok((await Deno.stat(kept)).isDirectory);
  });
}
