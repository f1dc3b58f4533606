/** A full disk, too few open files and too little memory, for the listener and for the relay, while messages are sent. */
import { say } from "../../scripts/say.ts";
import { FaultStage, IS_LONG } from "../helpers/fault_stage.ts";
import { run } from "../helpers/run.ts";
import { mountSmallDisk, type SmallDisk } from "../helpers/small_disk.ts";
import { until } from "../helpers/until.ts";

const FULL_MS = IS_LONG ? 6_000 : 1_500;

async function passed(ms: number): Promise<void> {
  const end = performance.now() + ms;
  await until("the time of the fault", () => performance.now() >= end);
}

/** Mounts a small disk while the program that uses the folder is stopped, and fills it while messages are sent. */
async function fullDisk(stage: FaultStage, who: "listener" | "relay"): Promise<void> {
  const { stack } = stage;
  const { svcHome } = stack.sandbox;
  const started = stack[who];
  started.kill("SIGTERM");
  await started.exited;
  await using disk = await mountSmallDisk(who === "relay" ? `${svcHome}/server` : svcHome);
  if (who === "relay") await stack.startRelay();
  else await stack.startListener();
  if (disk === undefined) return say(`skipped: ${who}'s disk full: this account may not mount`);
  await stage.row({
    fault: `${who}'s disk full`,
    inject: (load) =>
      stage.during(load, async () => {
        await disk.fill();
        await passed(FULL_MS);
        await disk.free();
      }),
  });
  if (who === "listener") await startOnFull(stage, disk);
  stack[who].kill("SIGTERM");
  await stack[who].exited;
}

async function startOnFull(stage: FaultStage, disk: SmallDisk): Promise<void> {
  const { stack } = stage;
  stack.listener.kill("SIGTERM");
  await stack.listener.exited;
  await disk.fill();
  await stack.startListener();
  await stage.row({
    fault: "listener started on a full disk",
    async inject() {
      await passed(FULL_MS);
      await disk.free();
      return 1;
    },
  });
}

/** Limits the process's open files, so that it can open no more than it has. */
async function fewFiles(stage: FaultStage, who: "listener" | "relay"): Promise<void> {
  const limit = async (files: string): Promise<void> =>
    void await run(["prlimit", "--pid", String(stage.stack[who].pid), `--nofile=${files}:`]);
  await stage.row({
    fault: `${who}'s file limit reached`,
    inject: (load) =>
      stage.during(load, async () => {
        const { pid } = stage.stack[who];
        await limit(String(Array.from(Deno.readDirSync(`/proc/${pid}/fd`)).length));
        await passed(FULL_MS);
        await limit("65536");
      }),
  });
}

Deno.test("faults: a full disk under the listener and under the relay [fault-disk, fault-count]", async (t) => {
  for (const who of ["relay", "listener"] as const) {
    await t.step(who, async () => {
      await using stage = await FaultStage.make();
      await fullDisk(stage, who);
    });
  }
});

Deno.test("faults: the listener and the relay may open no more files [fault-limits, fault-count]", async (t) => {
  await using stage = await FaultStage.make();
  for (const who of ["listener", "relay"] as const) {
    await t.step(who, () => fewFiles(stage, who));
  }
});
