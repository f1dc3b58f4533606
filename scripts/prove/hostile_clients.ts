/** `deno task prove:hostile`: how long a good client's POST takes beside each assault of strangers on a relay, and without. */
import { residentMb } from "../../tests/helpers/flooded_relay.ts";
import { GoodClient, servedLine } from "../../tests/helpers/good_client.ts";
import { newKey } from "../../tests/helpers/new_key.ts";
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
const KEYS = 16;

await using stack = await makeStack({ listener: false });
const data = `${stack.sandbox.svcHome}/server`;
const keys = await Promise.all(Array.from({ length: KEYS }, () => newKey(data, ["push:send"])));
const apiKey = await newKey(data, ["push:read"]);
const good = await GoodClient.connect(stack, { keys, reader: stack.apiKey });
const port = Number(new URL(stack.url).port);
// The first answers also measure how the code is compiled.
await good.post({ work: Promise.resolve(), least: QUIET_POSTS });
for (const name of ASSAULT_NAMES) {
  const quiet = await good.post({ work: Promise.resolve(), least: QUIET_POSTS });
  await using assault = startAssault(name, { port, apiKey, count: COUNTS[name], addresses: ADDRESSES });
  const beside = await good.post({ work: assault.result, least: BESIDE_POSTS });
  const memory = Math.round(await residentMb(stack.relay.pid));
  say(`hostile ${name}: ${JSON.stringify(await assault.result)}`);
  say(
    `hostile ${name}: a POST beside it in ${servedLine(beside)}; without in ${
      servedLine(quiet)
    }; ${memory} MB`,
  );
}
say(`hostile: the good client's WebSocket is ${good.isConnected ? "still open" : "closed"}`);
await good.close();
