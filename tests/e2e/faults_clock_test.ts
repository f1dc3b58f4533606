/** Clocks jump forward and back, and the host sleeps, while messages are sent. */
import { say } from "../../scripts/say.ts";
import { TTL_DEFAULT_SECONDS } from "../../src/protocol/limits.ts";
import { fakeTime, SKIPPED } from "../helpers/fake_time.ts";
import { FaultStage, IS_LONG } from "../helpers/fault_stage.ts";
import { run } from "../helpers/run.ts";
import { until } from "../helpers/until.ts";

/** Offsets from the true time, in seconds. */
const JUMPS = [-3_600, 3_600, -86_400, 0, 90_000, 0];
const ASLEEP_SECONDS = 3_600;
const STOPPED_MS = IS_LONG ? 8_000 : 2_000;

Deno.test("faults: the clocks of the listener and of the relay jump back and forward [fault-clock, fault-count]", async (t) => {
  for (const who of ["listener", "relay"] as const) {
    await t.step(who, async () => {
      await using stage = await FaultStage.make();
      const { stack } = stage;
      const clock = await fakeTime(`${stack.sandbox.root}/time-${who}`);
      if (clock === undefined) return say(SKIPPED);
      stack[who].kill("SIGTERM");
      await stack[who].exited;
      if (who === "relay") await stack.startRelay({ env: clock.env });
      else await stack.startListener({ env: clock.env });
      await stage.row({
        fault: `${who}'s clock set back and forward`,
        listener: who === "listener" ? { env: clock.env } : {},
        inject: (load) =>
          stage.during(load, async (n) => {
            await clock.set(JUMPS[n % JUMPS.length] ?? 0);
          }, { times: JUMPS.length }),
      });
      // From then on the relay's times differ from the host's.
      await clock.set(2 * TTL_DEFAULT_SECONDS);
      const [session = ""] = stage.names;
      await until("a message that does not expire", async () => {
        return (await stack.send(session, crypto.randomUUID())).receipt.state === "submitted";
      });
    });
  }
});

Deno.test("faults: the host sleeps: all its processes stop, and its clock jumps [fault-asleep, fault-count]", async () => {
  await using stage = await FaultStage.make();
  const { stack } = stage;
  const { root } = stack.sandbox;
  const clock = await fakeTime(`${root}/time`);
  if (clock === undefined) say(`${SKIPPED}; only the processes stand still`);
  /** Returns all processes of this host except the relay. */
  const processes = async (): Promise<number[]> => {
    const { stdout } = await run(["ps", "-A", "-o", "pid=,args="]);
    const rows = stdout.split("\n").map((line) => line.trim()).filter((line) =>
      line.includes(root) && !line.includes(" server ")
    );
    return [stack.listener.pid, ...rows.map((line) => Number.parseInt(line))];
  };
  const listener = clock === undefined ? {} : { env: clock.env };
  await stage.row({
    fault: "host asleep for an hour",
    listener,
    inject: (load) =>
      stage.during(load, async (n) => {
        const asleep = await processes();
        for (const pid of asleep) kill(pid, "SIGSTOP");
        const end = performance.now() + STOPPED_MS;
        await until("the host wakes", () => performance.now() >= end);
        await clock?.set((n + 1) * ASLEEP_SECONDS);
        for (const pid of asleep) kill(pid, "SIGCONT");
      }, { times: IS_LONG ? 4 : 1 }),
  });
});

/** Sends a signal to a process that may already have ended, as a tmux client does by itself. */
function kill(pid: number, signal: Deno.Signal): void {
  try {
    Deno.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound) && !(error instanceof TypeError)) throw error;
  }
}
