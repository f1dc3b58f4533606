/** No process of a real agent keeps running after its session was killed. */
import assert from "node:assert/strict";
import { say } from "../../../scripts/say.ts";
import type { Sandbox } from "../../helpers/sandbox.ts";
import { until } from "../../helpers/until.ts";
import { CardStage } from "../card_stage.ts";
import { treeOf } from "../end_tree.ts";
import { callForCard } from "../for_card.ts";
import { AgentStage } from "./agent_stage.ts";
import { agents } from "./form.ts";
import { processesOf, readProcess } from "./processes.ts";

/** A safety limit for a busy machine; the time itself is printed. */
const LIMIT_MS = 30_000;

/** Kills the agent's session; resolves with the number of its processes, and the seconds until all had ended. */
async function killSession(
  sandbox: Sandbox,
  { session, pid }: { session: string; pid: number },
): Promise<string> {
  // Another session keeps the tmux server running.
  await sandbox.tmux("new-session", "-d", "-s", "other", "cat");
  const tree = new Set(await treeOf(pid));
  const marked = `SVC_SESSION=${session}\0`;
  const left = async (): Promise<string[]> => {
    const known = await Promise.all([...tree].map(readProcess));
    const found = [...known, ...await processesOf(sandbox.root)].filter((one) => one !== undefined);
    const own = await Promise.all(found.map(async (one) => {
      const environment = await Deno.readTextFile(`/proc/${one.pid}/environ`).catch(() => "");
      return one.state !== "Z" && (tree.has(one.pid) || environment.includes(marked)) ? [one] : [];
    }));
    return own.flat().map(({ pid, name, argv }) => `${name} (${pid}) ${argv.join(" ").slice(0, 80)}`);
  };
  const count = (await left()).length;
  await sandbox.tmux("kill-session", "-t", `=${session}`);
  const begun = performance.now();
  let last: string[] = [];
  await until("the end of all its processes", async () => {
    last = await left();
    return last.length === 0;
  }, LIMIT_MS).catch((error) => {
    throw new Error(`${error.message}: ${last.join("; ")}`);
  });
  return `nothing of ${count} processes after ${((performance.now() - begun) / 1_000).toFixed(1)} s`;
}

for (const kind of agents()) {
  Deno.test(`${kind}: nothing of it is left after tmux kill-session, with the listener running [closed-left]`, async () => {
    await using stage = await AgentStage.open(kind, { env: { COLORTERM: "truecolor" } });
    await stage.startTurn("hello to the model");
    await stage.untilIdle();
    const { session, pane: { pid } } = stage;
    say(`left ${kind}: ${await killSession(stage.stack.sandbox, { session, pid })}`);
  });

  Deno.test(`${kind}: nothing of it is left after tmux kill-session while its hook waits for a phone [closed-left, card-hook-ends]`, async () => {
    await using stage = await CardStage.open(kind, { allowRemoteApproval: "once" });
    const { agent, stack: { sandbox } } = stage;
    const asked = callForCard(agent, "left");
    await stage.start("ask the phone");
    await stage.untilCard(asked);
    const waiting = (await processesOf(sandbox.root)).filter(({ argv }) => argv.at(-1) === "cards");
    assert.ok(waiting.length > 0, "no hook waits");
    const { session, pane: { pid } } = agent;
    say(`left ${kind} while a phone is asked: ${await killSession(sandbox, { session, pid })}`);
  });
}
