/** The listener is killed at every step, upgraded, slow, or started twenty times at once, while messages are sent. */
import assert from "node:assert/strict";
import { runtime } from "#runtime";
import { FaultStage, IS_LONG } from "../helpers/fault_stage.ts";
import { until } from "../helpers/until.ts";

/** More steps than the messages in progress have. */
const STEPS = 60;
const WRAPPERS = 20;
const SLOW_MS = 5_000;

async function daemonPid({ stack }: FaultStage): Promise<number> {
  return await until("the listener's answer", async () => {
    const { listener } = JSON.parse((await stack.svc("status", "--json")).stdout);
    return typeof listener?.pid === "number" && listener.pid;
  });
}

Deno.test("faults: the listener killed at every step under load [fault-listener, fault-count]", async () => {
  await using stage = await FaultStage.make();
  const { stack } = stage;
  const launch = await stage.launchWith("crashing_runtime.ts");
  await stage.row({
    fault: "listener killed",
    async inject(load) {
      let kills = 0;
      for (let at = 1; !load.isDone && (IS_LONG || kills < 6); at = (at + (IS_LONG ? 1 : 9)) % STEPS) {
        await stage.killListener();
        kills++;
        await stack.startListener({ launch, env: { SVC_TEST_CRASH: String(at) } });
        let ended = false;
        void stack.listener.exited.then(() => ended = true);
        await load.progress(Infinity, { unless: () => ended });
      }
      await stage.killListener();
      await stack.startListener();
      return kills;
    },
  });
});

Deno.test("faults: the listener upgraded, slow, or started by twenty wrappers, under load [fault-upgrade, fault-wrappers, fault-slow]", async (t) => {
  await using stage = await FaultStage.make();
  const { stack } = stage;
  const wrap = await stage.fakeAgent();
  await t.step("upgraded", async () => {
    await stage.row({
      fault: "listener upgraded",
      inject: (load) =>
        stage.during(load, async () => {
          const old = await daemonPid(stage);
          await Deno.writeTextFile(`${stack.sandbox.svcHome}/listener.version`, "0.0.1\n");
          assert.match((await wrap()).stderr, /restarting it/);
          assert.notEqual(await daemonPid(stage), old);
        }, { times: IS_LONG ? 20 : 2 }),
    });
  });
  await t.step("slow", async () => {
    await stage.row({
      fault: "control socket that answers after 5 s",
      inject: (load) =>
        stage.during(load, async () => {
          const pid = await daemonPid(stage);
          Deno.kill(pid, "SIGSTOP");
          const wrapped = wrap();
          const end = performance.now() + SLOW_MS;
          await until("five seconds", () => performance.now() >= end);
          Deno.kill(pid, "SIGCONT");
          await wrapped;
          assert.equal(await daemonPid(stage), pid);
        }, { times: IS_LONG ? 8 : 1 }),
    });
  });
  await t.step("twenty wrappers", async () => {
    await stage.row({
      fault: "twenty wrappers at once",
      inject: (load) =>
        stage.during(load, async () => {
          const pid = await daemonPid(stage);
          Deno.kill(pid, "SIGKILL");
          await until("its end", () => !runtime.commands.kill(pid, 0));
          await stage.noteBegun();
          await Promise.all(Array.from({ length: WRAPPERS }, wrap));
          const ran = await stack.svc("status", "--json");
          assert.equal(ran.code, 0, ran.stderr);
        }, { times: IS_LONG ? 5 : 1 }),
    });
  });
});
