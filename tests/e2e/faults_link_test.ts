/** A proxy before the relay, for the listener and for senders: it cuts, stalls, half-closes, delays and replays while messages are sent. */
import assert from "node:assert/strict";
import { FaultProxy } from "../helpers/fault_proxy.ts";
import { FaultStage, IS_LONG } from "../helpers/fault_stage.ts";
import { until } from "../helpers/until.ts";

const STALL_MS = IS_LONG ? 8_000 : 1_500;
const DELAY_MS = 300;

async function passed(ms: number): Promise<void> {
  const end = performance.now() + ms;
  await until("the time of the fault", () => performance.now() >= end);
}

type Inject = (proxy: FaultProxy, n: number) => Promise<void> | void;

const FAULTS: Record<string, Inject> = {
  "proxy cuts": (proxy) => proxy.cut(),
  "proxy stalls": async (proxy) => {
    proxy.stall();
    await passed(STALL_MS);
    proxy.flow();
  },
  "proxy half-closes": (proxy, n) => proxy.halfClose(n % 2 === 0 ? "near" : "far"),
  "proxy delays": async (proxy) => {
    proxy.delay(DELAY_MS);
    await passed(STALL_MS);
    proxy.delay(0);
  },
  "proxy replays": (proxy) => proxy.replayRequests(),
};

Deno.test("faults: a proxy that cuts, stalls, half-closes, delays and replays [fault-proxy, fault-count]", async (t) => {
  await using stage = await FaultStage.make();
  await using proxy = await FaultProxy.start(stage.stack.url);
  const path = `${stage.stack.sandbox.svcHome}/config.json`;
  const config = JSON.parse(await Deno.readTextFile(path));
  await Deno.writeTextFile(path, JSON.stringify({ ...config, wsUrl: `ws://${proxy.host}/ws` }));
  for (const [fault, inject] of Object.entries(FAULTS)) {
    await t.step(fault, async () => {
      if (fault === "proxy replays") proxy.replay();
      await stage.row({
        fault,
        baseUrl: `http://${proxy.host}`,
        inject: (load) => stage.during(load, async (n) => await inject(proxy, n)),
      });
    });
  }
  assert.ok(proxy.replayed > 0);
});
