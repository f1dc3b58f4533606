/** The listener and the relay reach their memory limit and end, and are started again, while messages are sent. */
import { say } from "../../scripts/say.ts";
import { FaultStage } from "../helpers/fault_stage.ts";
import { run } from "../helpers/run.ts";

/** A process that allocates nothing more for this long goes on without the limit. */
const LIMIT_MS = 10_000;

/** Lets the process allocate no more memory than it has. */
async function setLimit(pid: number): Promise<void> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  const kilobytes = Number(/^VmData:\s+(\d+)/m.exec(status)?.[1]);
  await run(["prlimit", "--pid", String(pid), `--data=${kilobytes * 1024}:`]);
}

Deno.test("faults: the memory limit of the listener and of the relay reached [fault-memory, fault-count]", async (t) => {
  await using stage = await FaultStage.make();
  const { stack } = stage;
  for (const who of ["listener", "relay"] as const) {
    await t.step(who, async () => {
      let ends = 0;
      await stage.row({
        fault: `${who}'s memory limit reached`,
        inject: (load) =>
          stage.during(load, async () => {
            const { pid, exited } = stack[who];
            let ended = false;
            void exited.then(() => ended = true);
            await setLimit(pid);
            await load.progress(Infinity, { orAfterMs: LIMIT_MS, unless: () => ended });
            if (!ended) return void await run(["prlimit", "--pid", String(pid), "--data=unlimited:"]);
            ends++;
            if (who === "relay") return await stack.startRelay();
            await stage.noteBegun();
            await stack.startListener();
          }),
      });
      say(`${who} ended at its memory limit ${ends} times`);
    });
  }
});
