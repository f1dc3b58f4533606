/** Three relay nodes on three NATS servers: a server or a node is killed, or NATS is stopped, while messages are sent. */
import { FaultStage, IS_LONG } from "../helpers/fault_stage.ts";
import { until } from "../helpers/until.ts";

const STOPPED_MS = 20_000;
/** How long a killed server is down. */
const AWAY_MS = 3_000;

Deno.test("faults: NATS servers and relay nodes killed, and NATS stopped for 20 s [fault-nodes, fault-count]", async (t) => {
  await using stage = await FaultStage.make({ onNats: true });
  const { stack } = stage;
  await t.step("NATS server killed", async () => {
    await stage.row({
      fault: "NATS server killed",
      inject: (load) =>
        stage.during(load, async (n) => {
          const server = stack.nats[n % stack.nats.length];
          await server?.stop("SIGKILL");
          await load.progress(Infinity, { orAfterMs: AWAY_MS });
          await server?.restart();
        }, { times: IS_LONG ? 6 : 2 }),
    });
  });
  await t.step("relay node killed", async () => {
    await stage.row({
      fault: "relay node killed",
      inject: (load) =>
        stage.during(load, async (n) => {
          const node = stack.nodes[n % (stack.nodes.length + 1)];
          if (node !== undefined) return await node.killAndStart();
          stack.relay.kill("SIGKILL");
          await stack.relay.exited;
          await stack.startRelay();
        }, { times: IS_LONG ? 9 : 3 }),
    });
  });
  await t.step("NATS stopped", async () => {
    await stage.row({
      fault: "NATS stopped for 20 s",
      inject: (load) =>
        stage.during(load, async () => {
          for (const server of stack.nats) server.signal("SIGSTOP");
          const end = performance.now() + STOPPED_MS;
          await until("20 seconds", () => performance.now() >= end);
          for (const server of stack.nats) server.signal("SIGCONT");
        }, { times: IS_LONG ? 2 : 1 }),
    });
  });
});
