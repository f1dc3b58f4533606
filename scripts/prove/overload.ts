/** `deno task prove:overload`: a relay's capacity in accepted pushes a second, and a good client's POST beside 256 connections of keys that are over their limit. */
import { Peer } from "../../tests/contract/relay_peer.ts";
import { GoodClient, servedLine } from "../../tests/helpers/good_client.ts";
import { newKey } from "../../tests/helpers/new_key.ts";
import { type Loaded, runLoad } from "../../tests/helpers/overload.ts";
import { makeStack } from "../../tests/helpers/stack.ts";
import { say } from "../say.ts";

const SECONDS = 8;
/** Together they may post more than the relay can store. */
const MANY_KEYS = 200;
/** Together they may post 100 a second. */
const FEW_KEYS = 2;
const LISTENERS = 20;
/** Each gets every message. */
const PHONES = 3;
const GOOD_KEYS = 8;
const QUIET_POSTS = 500;
const WINDOW = 20;

await using stack = await makeStack({ listener: false });
const data = `${stack.sandbox.svcHome}/server`;
const makeKeys = (count: number): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, () => newKey(data, ["push:send", "push:read"])));
const [many, few, own, live] = [
  await makeKeys(MANY_KEYS),
  await makeKeys(FEW_KEYS),
  await makeKeys(GOOD_KEYS),
  await makeKeys(LISTENERS + PHONES),
];
const port = Number(new URL(stack.url).port);
const sockets = await Promise.all([
  ...live.slice(0, LISTENERS).map((key, n) =>
    Peer.listener(stack.wsUrl, key, `dev_listener_${String(n).padStart(8, "0")}`)
  ),
  ...live.slice(LISTENERS).map((key) => Peer.greeted(stack.wsUrl, { key, hello: { role: "phone" } })),
]);
const good = await GoodClient.connect(stack, { keys: own, reader: stack.apiKey });
const post = (work: Promise<unknown>, least = 0) => good.post({ work, least });

const perSecond = ({ statuses, seconds }: Loaded, wanted?: string): number =>
  Math.round(
    Object.entries(statuses).filter(([status]) => wanted === undefined || status === wanted)
      .reduce((sum, [, count]) => sum + count, 0) / seconds,
  );

await post(Promise.resolve(), QUIET_POSTS);
const quiet = await post(Promise.resolve(), QUIET_POSTS);
say(`overload quiet: a POST in ${servedLine(quiet)}`);
const capacity = await runLoad({ port, keys: many, connections: 128, seconds: SECONDS });
say(
  `overload capacity: ${perSecond(capacity, "202")} accepted a second, with ${sockets.length} live sockets`,
);
const loading = runLoad({ port, keys: few, connections: 256, seconds: SECONDS });
const beside = await post(loading);
const loaded = await loading;
const ratio = (perSecond(loaded) / Math.max(1, perSecond(capacity, "202"))).toFixed(1);
say(
  `overload load: ${perSecond(loaded)} a second (${ratio} of the capacity), ${
    JSON.stringify(loaded.statuses)
  }, ` +
    `${loaded.unexplained} refused without Retry-After`,
);
const median = (sorted: readonly number[]): number => sorted[sorted.length >> 1] ?? 0;
say(
  `overload beside: a POST within its budget in ${servedLine(beside)}, ` +
    `${(median(beside.postMs) / median(quiet.postMs)).toFixed(1)} of the quiet median`,
);
const ended = performance.now();
let windows = 0;
while (median((await post(Promise.resolve(), WINDOW)).postMs) > 1.5 * median(quiet.postMs) && windows < 100) {
  windows++;
}
say(
  `overload recovery: as quick as 1.5 of the quiet median ${
    ((performance.now() - ended) / 1_000).toFixed(1)
  } s after it`,
);
const open = sockets.filter(({ closed }) => closed === undefined).length;
say(
  `overload sockets: ${open} of ${sockets.length} still open, the good client's ${
    good.isConnected ? "too" : "closed"
  }`,
);
await Promise.all(sockets.map((socket) => socket.leave()));
await good.close();
