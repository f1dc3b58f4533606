/** `deno task prove:hostile`: how long a good client's POST takes during each attack by strangers on a relay, and without one, on both runtimes. */
import { residentMb } from "../../tests/helpers/flooded_relay.ts";
import { GoodClient, servedLine } from "../../tests/helpers/good_client.ts";
import { newKey } from "../../tests/helpers/new_key.ts";
import { buildForNode } from "../../tests/helpers/node_build.ts";
import { FROM_CHECKOUT, type Launch } from "../../tests/helpers/program.ts";
import { CHECKOUT } from "../../tests/helpers/sources.ts";
import { makeStack } from "../../tests/helpers/stack.ts";
import { ASSAULT_NAMES, type AssaultName, startAssault } from "../../tests/helpers/strangers.ts";
import { say } from "../say.ts";

const QUIET_POSTS = 500;
const BESIDE_POSTS = 300;

const COUNTS: Record<AssaultName, number> = {
  halfOpen: 10_000,
  deepBodies: 1_000,
  gzipBombs: 1_000,
  longBodies: 1_000,
  oversizedFrames: 500,
  deepFrames: 40,
  compressedFrames: 500,
};
const ADDRESSES = 40;
/** Enough that each stays within its limit while the relay is overloaded. */
const KEYS = 60;

/** Prints the figures of each attack. */
async function assaultAll(runtime: string, launch: Launch): Promise<void> {
  await using stack = await makeStack({ launch, listener: false });
  const data = `${stack.sandbox.svcHome}/server`;
  const keys = await Promise.all(Array.from({ length: KEYS }, () => newKey(data, ["push:send"])));
  const apiKey = await newKey(data, ["push:read"]);
  const good = await GoodClient.connect(stack, { keys, reader: stack.apiKey });
  const port = Number(new URL(stack.url).port);
  // The first answers also include compiling the code.
  await good.post({ work: Promise.resolve(), least: QUIET_POSTS });
  for (const name of ASSAULT_NAMES) {
    const quiet = await good.post({ work: Promise.resolve(), least: QUIET_POSTS });
    await using assault = startAssault(name, { port, apiKey, count: COUNTS[name], addresses: ADDRESSES });
    const beside = await good.post({ work: assault.result, least: BESIDE_POSTS });
    const memory = Math.round(await residentMb(stack.relay.pid));
    say(`hostile ${name} on ${runtime}: ${JSON.stringify(await assault.result)}`);
    say(
      `hostile ${name} on ${runtime}: a POST beside it in ${servedLine(beside)}; without in ${
        servedLine(quiet)
      }; ${memory} MB`,
    );
  }
  say(`hostile on ${runtime}: the good client's WebSocket is ${good.isConnected ? "still open" : "closed"}`);
  await good.close();
}

const folder = await Deno.makeTempDir({ prefix: "svc-hostile-" });
try {
  await assaultAll("Deno", FROM_CHECKOUT);
  await assaultAll("Node", await buildForNode(`${CHECKOUT}cli.ts`, { folder }));
} finally {
  await Deno.remove(folder, { recursive: true });
}
