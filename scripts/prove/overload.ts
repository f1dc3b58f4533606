/** `deno task prove:overload`: a relay's capacity in accepted pushes per second, and a good client's POST while twice as many arrive, whatever the answers. */
import { OVERLOAD_IN_HAND } from "../../src/relay/admission.ts";
import { GoodClient, servedLine } from "../../tests/helpers/good_client.ts";
import { openLiveSockets } from "../../tests/helpers/live_sockets.ts";
import { newKey } from "../../tests/helpers/new_key.ts";
import { type Load, type Loaded, runLoad } from "../../tests/helpers/overload.ts";
import { makeStack } from "../../tests/helpers/stack.ts";
import { say } from "../say.ts";

const CAPACITY_SECONDS = 8;
/** Longer than the keys' bursts last. */
const LOAD_SECONDS = 20;
/** Together these may post more than the relay can store, even while it is overloaded. */
const MANY_KEYS = 200;
/** Arrivals as a multiple of the relay's capacity. */
const TIMES = 2;
/** Each process sends an equal share. */
const PROCESSES = 2;
/** Per process: together nearly as many as the relay accepts. */
const CONNECTIONS = 448;
/** Requests per second of each key, by name: one rate is within a key's limit, the other is not. */
const LOADS = { "within the keys' limits": 40, "over the keys' limits": 200 };
const LISTENERS = 20;
/** Each receives every message. */
const PHONES = 3;
/** Enough that each stays within its limit while the relay is overloaded. */
const GOOD_KEYS = 1_000;
const QUIET_POSTS = 500;
const WINDOW = 20;

await using stack = await makeStack({ listener: false });
const data = `${stack.sandbox.svcHome}/server`;
const makeKeys = (count: number): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, () => newKey(data, ["push:send", "push:read"])));
const [many, own, liveKeys] = [
  await makeKeys(MANY_KEYS),
  await makeKeys(GOOD_KEYS),
  await makeKeys(LISTENERS + PHONES),
];
const port = Number(new URL(stack.url).port);
const { wsUrl } = stack;
await using live = openLiveSockets({
  wsUrl,
  listeners: liveKeys.slice(0, LISTENERS),
  phones: liveKeys.slice(LISTENERS),
});
await live.result;
const good = await GoodClient.connect(stack, { keys: own, reader: stack.apiKey });
const post = (work: Promise<unknown>, least = 0) => good.post({ work, least });

const median = (sorted: readonly number[]): number => sorted[sorted.length >> 1] ?? 0;

await post(Promise.resolve(), QUIET_POSTS);
const quiet = await post(Promise.resolve(), QUIET_POSTS);
say(`overload quiet: a POST in ${servedLine(quiet)}`);
const capacity = await measureCapacity();
say(`overload capacity: ${capacity} accepted a second, with ${LISTENERS + PHONES} live sockets`);

/** Runs all processes together, each with its share of the keys. */
async function loads(
  keys: readonly string[],
  options: Pick<Load, "seconds" | "perSecond" | "connections">,
): Promise<Loaded[]> {
  return await Promise.all(Array.from({ length: PROCESSES }, (_, n) =>
    runLoad({
      ...{ port, ...options },
      keys: keys.filter((_key, at) => at % PROCESSES === n),
    })));
}

/** Measures how much the relay accepts when it always has work, with too few connections to count as overloaded. */
async function measureCapacity(): Promise<number> {
  const connections = Math.floor(OVERLOAD_IN_HAND / PROCESSES) - 1;
  const all = await loads(many, { seconds: CAPACITY_SECONDS, connections });
  return Math.round(all.reduce((sum, { statuses, seconds }) => sum + (statuses["202"] ?? 0) / seconds, 0));
}

/** Sends at this rate, summed over all processes. */
const arrivals = (rate: number, keys: readonly string[]): Promise<Loaded[]> =>
  loads(keys, { perSecond: rate / PROCESSES, seconds: LOAD_SECONDS, connections: CONNECTIONS });

function loadedLine(all: readonly Loaded[]): string {
  const sum = (count: (one: Loaded) => number): number => all.reduce((total, one) => total + count(one), 0);
  const names = [...new Set(all.flatMap(({ statuses }) => Object.keys(statuses)))].sort();
  const answers = names.map((name) => `${name}: ${sum(({ statuses }) => statuses[name] ?? 0)}`).join(", ");
  const rate = Math.round(sum((one) => one.sent) / LOAD_SECONDS);
  return `${rate} a second arrived (${
    (rate / Math.max(1, capacity)).toFixed(1)
  } of the capacity), ${answers}; ` +
    `${sum((one) => one.ended)} cut off, ${sum((one) => one.waiting)} without an answer, ${
      sum((one) => one.queued)
    } not sent, as every connection waited for its answer, ${
      sum((one) => one.unexplained)
    } refused without Retry-After`;
}

/** True if every request got 202, 429 or 503, and every refusal had a Retry-After. */
const isAnswered = ({ statuses, ended, waiting, unexplained }: Loaded): boolean =>
  ended + waiting + unexplained === 0 &&
  Object.keys(statuses).every((status) => ["202", "429", "503"].includes(status));

/** Resolves with the seconds until a POST takes at most 1.5 times the quiet median. */
async function recovery(): Promise<string> {
  const ended = performance.now();
  for (let windows = 0; windows < 100; windows++) {
    if (median((await post(Promise.resolve(), WINDOW)).postMs) <= 1.5 * median(quiet.postMs)) break;
  }
  return ((performance.now() - ended) / 1_000).toFixed(1);
}

let isShown = true;
for (const [name, each] of Object.entries(LOADS)) {
  const rate = TIMES * capacity;
  const loading = arrivals(rate, many.slice(0, Math.max(PROCESSES, Math.round(rate / each))));
  const beside = await post(loading);
  say(`overload load ${name}: ${loadedLine(await loading)}`);
  isShown &&= (await loading).every(isAnswered);
  const ratio = (median(beside.postMs) / median(quiet.postMs)).toFixed(1);
  say(`overload beside: a POST within its budget in ${servedLine(beside)}, ${ratio} of the quiet median`);
  say(`overload recovery: as quick as 1.5 of the quiet median ${await recovery()} s after it`);
}
const open = await openSockets();
say(
  `overload sockets: ${open} of ${LISTENERS + PHONES} still open, the good client's ${
    good.isConnected ? "too" : "closed"
  }`,
);
await good.close();
// Sets the exit code without exiting, so that everything that still runs is ended first.
Deno.exitCode = isShown && open === LISTENERS + PHONES ? 0 : 1;

/** Counts the open sockets of the live clients, which do not reconnect. */
async function openSockets(): Promise<number> {
  const text = await (await fetch(`${stack.url}/metrics`)).text();
  const connections = [...text.matchAll(/^svc_connections\{.*\} (\d+)$/gm)];
  const all = connections.reduce((sum, [, count]) => sum + Number(count), 0);
  return all - (good.isConnected ? 1 : 0);
}
