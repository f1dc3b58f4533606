/** Strangers that hold connections open, and guests that send input that is costly to read, do not affect a good client. */
import assert from "node:assert/strict";
import { say } from "../../scripts/say.ts";
import { residentMb } from "../helpers/flooded_relay.ts";
import { GoodClient, servedLine } from "../helpers/good_client.ts";
import { Peer } from "../contract/relay_peer.ts";
import { newKey } from "../helpers/new_key.ts";
import { runLoad } from "../helpers/overload.ts";
import { makeStack } from "../helpers/stack.ts";
import { ASSAULT_NAMES, type AssaultName, startAssault } from "../helpers/strangers.ts";

/** An idle relay uses about 80 MB. */
const MEMORY_MAX_MB = 300;
const POSTS_LEAST = 40;

/** `deno task prove faults` opens 10,000. */
const COUNTS: Record<AssaultName, number> = {
  halfOpen: 3_000,
  deepBodies: 100,
  gzipBombs: 100,
  longBodies: 100,
  oversizedFrames: 40,
  deepFrames: 10,
  compressedFrames: 40,
};

Deno.test("slow, half-open, oversized, deeply nested and compressed input does not affect a good client [hostile-network]", async (t) => {
  await using stack = await makeStack({ listener: false });
  const data = `${stack.sandbox.svcHome}/server`;
  const keys = await Promise.all(Array.from({ length: 8 }, () => newKey(data, ["push:send"])));
  const apiKey = await newKey(data, ["push:read"]);
  const good = await GoodClient.connect(stack, { keys, reader: stack.apiKey });
  for (const name of ASSAULT_NAMES) {
    await t.step(name, async () => {
      const port = Number(new URL(stack.url).port);
      await using assault = startAssault(name, { port, apiKey, count: COUNTS[name], addresses: 20 });
      const served = await good.post({ work: assault.result, least: POSTS_LEAST });
      const result = await assault.result;
      const memory = await residentMb(stack.relay.pid);
      say(
        `${name}: ${JSON.stringify(result)}; a POST beside it in ${servedLine(served)}; ${
          Math.round(memory)
        } MB`,
      );
      assert.deepEqual(served.others, []);
      assert.ok(served.received >= served.postMs.length);
      assert.ok(good.isConnected);
      assert.ok(memory < MEMORY_MAX_MB, `${memory} MB`);
      if (name !== "halfOpen") assertRefused(result);
    });
  }
  await good.close();
});

Deno.test("a relay under overload refuses with Retry-After, keeps its sockets and accepts requests of clients within their budget [hostile-network]", async () => {
  await using stack = await makeStack({ listener: false });
  const data = `${stack.sandbox.svcHome}/server`;
  const own = await newKey(data, ["push:send"]);
  const listener = await Peer.listener(stack.wsUrl, await newKey(data, ["push:read"]));
  const good = await GoodClient.connect(stack, { keys: [own], reader: stack.apiKey });
  // Ends after a number of refusals, not after a time: a slow machine takes longer to use up the key's budget.
  const keys = [await newKey(data, ["push:send"])];
  const port = Number(new URL(stack.url).port);
  const loading = runLoad({ port, keys, connections: 64, seconds: 120, refusals: 200 });
  const served = await good.post({ work: Promise.resolve(), least: POSTS_LEAST });
  const { statuses, unexplained } = await loading;
  assert.deepEqual([served.others, unexplained], [[], 0]);
  assert.deepEqual(Object.keys(statuses).filter((status) => !["202", "429", "503"].includes(status)), []);
  const { "202": taken = 0, "429": overBudget = 0, "503": overloaded = 0 } = statuses;
  assert.ok(taken > 0 && overBudget + overloaded > 0, JSON.stringify(statuses));
  assert.ok(good.isConnected && listener.closed === undefined);
  await good.close();
  await listener.leave();
});

/** Asserts that each was refused or disconnected; some of these overload a slow relay, which then reports that. */
function assertRefused(result: Record<string, unknown>): void {
  const [counts] = Object.values(result) as Record<string, number>[];
  const served = Object.keys(counts ?? {}).filter((how) =>
    !/^(4\d\d|503|ended|1002|1007|1009|44\d\d)$/.test(how)
  );
  assert.deepEqual(served, [], JSON.stringify(result));
}
