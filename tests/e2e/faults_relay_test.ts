/** The relay is killed at every step, killed, and restarted, while messages are sent: none is lost, typed twice or unknown. */
import { FaultStage, IS_LONG } from "../helpers/fault_stage.ts";

/** More steps than a few messages take through the relay. */
const STEPS = 30;

Deno.test("faults: the relay killed at every step, killed and restarted, under load [fault-relay, fault-count]", async (t) => {
  await using stage = await FaultStage.make();
  const { stack } = stage;
  await t.step("killed at every step", async () => {
    const launch = await stage.launchWith("crashing_relay.ts");
    const times = IS_LONG ? STEPS : 4;
    await stage.row({
      fault: "relay killed at every step",
      async inject(load) {
        let kills = 0;
        for (; kills < times && !load.isDone; kills++) {
          // A listener's back-off would grow from kill to kill.
          if (kills % 4 === 3) {
            await stack.svc("listener", "--stop");
            void stack.startListener().catch(() => {});
          }
          stack.relay.kill("SIGKILL");
          await stack.relay.exited;
          // It may be killed before it prints that it listens.
          await stack.startRelay({ launch, env: { SVC_TEST_CRASH: String(1 + kills * (IS_LONG ? 1 : 4)) } })
            .catch(() => {});
          let ended = false;
          void stack.relay.exited.then(() => ended = true);
          await load.progress(Infinity, { orAfterMs: 30_000, unless: () => ended });
        }
        stack.relay.kill("SIGKILL");
        await stack.relay.exited;
        await stack.startRelay();
        return kills;
      },
    });
  });
  for (const [fault, signal] of [["relay killed", "SIGKILL"], ["relay restarted", "SIGTERM"]] as const) {
    await t.step(fault, async () => {
      await stage.row({
        fault,
        inject: (load) =>
          stage.during(load, async () => {
            stack.relay.kill(signal);
            await stack.relay.exited;
            await stack.startRelay();
          }),
      });
    });
  }
});
