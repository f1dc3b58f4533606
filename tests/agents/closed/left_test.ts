/** Nothing of a real agent is left running after its session was killed. */
import { say } from "../../../scripts/say.ts";
import { until } from "../../helpers/until.ts";
import { treeOf } from "../end_tree.ts";
import { AgentStage } from "./agent_stage.ts";
import { agents } from "./form.ts";
import { processesOf, readProcess } from "./processes.ts";

/** A net for a busy machine; the time itself is printed. */
const LIMIT_MS = 30_000;

for (const kind of agents()) {
  Deno.test(`${kind}: nothing of it is left after tmux kill-session, with the listener running [closed-left]`, async () => {
    await using stage = await AgentStage.open(kind, { env: { COLORTERM: "truecolor" } });
    const { sandbox } = stage.stack;
    // Another session keeps the tmux server.
    await sandbox.tmux("new-session", "-d", "-s", "other", "cat");
    await stage.startTurn("hello to the model");
    await stage.untilIdle();
    const tree = new Set(await treeOf(stage.pane.pid));
    const marked = `SVC_SESSION=${stage.session}\0`;
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
    await sandbox.tmux("kill-session", "-t", `=${stage.session}`);
    const begun = performance.now();
    let last: string[] = [];
    await until("the end of all its processes", async () => {
      last = await left();
      return last.length === 0;
    }, LIMIT_MS).catch((error) => {
      throw new Error(`${error.message}: ${last.join("; ")}`);
    });
    const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
    say(`left ${kind}: nothing of ${count} processes after ${seconds} s`);
  });
}
