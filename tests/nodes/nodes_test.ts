/** Three relay nodes on three NATS servers: each is killed or frozen under load, and no message is lost, duplicated or out of order. */
import { makeNodeStage } from "../helpers/node_stage.ts";
import { until } from "../helpers/until.ts";
import { checkAll, progress, report } from "./progress.ts";

const STOPPED_MS = 20_000;

Deno.test("nodes: kill -9 of each NATS server and each relay node under load loses, duplicates and reorders nothing [run-nats]", async () => {
  await using stage = await makeNodeStage({ sessions: 6 });
  await progress(stage);
  report(stage, "calm");
  for (const [n, server] of stage.nats.entries()) {
    await server.stop("SIGKILL");
    await progress(stage);
    await server.restart();
    await progress(stage);
    report(stage, `NATS ${n} killed`);
  }
  for (const [n, relay] of stage.relays.entries()) {
    relay.started().kill("SIGKILL");
    await progress(stage);
    await relay.restart();
    await progress(stage);
    report(stage, `relay ${n} killed`);
  }
  await checkAll(stage);
});

Deno.test("nodes: a NATS server and a relay node that are frozen for 20 s lose, duplicate and reorder nothing [run-nats]", async () => {
  await using stage = await makeNodeStage({ sessions: 6 });
  await progress(stage);
  report(stage, "calm");
  const [server] = stage.nats;
  const [relay] = stage.relays;
  const whileStopped = async (
    fault: string,
    signal: (name: "SIGSTOP" | "SIGCONT") => void,
  ): Promise<void> => {
    const end = performance.now() + STOPPED_MS;
    signal("SIGSTOP");
    try {
      await progress(stage);
      await until("20 s have passed", () => performance.now() >= end);
    } finally {
      signal("SIGCONT");
    }
    await progress(stage);
    report(stage, fault);
  };
  await whileStopped("NATS stopped", (name) => server?.signal(name));
  await whileStopped("relay stopped", (name) => relay?.started().kill(name));
  await checkAll(stage);
});
