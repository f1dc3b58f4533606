/** The soak: every part of svc in use for a long time, with its link cut again and again. */
import { RelayLink } from "../../src/client/relay_link.ts";
import type { Role } from "../../src/protocol/frames.ts";
import { FaultProxy } from "../helpers/fault_proxy.ts";
import { startMcp } from "../helpers/mcp_process.ts";
import { MirrorPhone } from "../helpers/mirror_phone.ts";
import { newKey } from "../helpers/new_key.ts";
import { type EchoSession, makeStack, type Stack } from "../helpers/stack.ts";
import type { Launch } from "../helpers/program.ts";
import { CHECKOUT } from "../helpers/sources.ts";
import { until } from "../helpers/until.ts";
import { type Holdings, lastingHoldings, settledHoldings } from "./leftovers.ts";
import type { MemoryLine, Observation } from "./observed.ts";
import { type CutLink, Traffic, type TrafficCounts } from "./traffic.ts";

export interface SoakOptions {
  minutes: number;
  sessions?: number;
  sockets?: number;
  /** Bytes that each process leaks every second. */
  leak?: number;
  /** The interval between cuts of the link. */
  cutMs?: number;
}

export interface Soak {
  seconds: number;
  cuts: number;
  /** The longest time from a cut until all connections were back. */
  backMs: number;
  counts: TrafficCounts;
  /** Memory of each process, recorded while messages were sent. */
  memory: Record<string, MemoryLine[]>;
  before: Holdings;
  after: Holdings;
  /** Sizes of the files that grow with the messages, in bytes, by name. */
  sizes: Record<string, number>;
}

const MIRRORS = 3;
const CUT_MS = 60_000;
const MINUTE_MS = 60_000;
/** The number of samples, at least MIN_EVERY_MS apart. */
const SAMPLES = 240;
const MIN_EVERY_MS = 1_000;
/** The roles of the account's keys, each of which may own 200 devices. */
const IDLE_ROLES = ["phone", "listener"] as const;

export async function soak(options: SoakOptions): Promise<Soak> {
  const { minutes, sessions = 20, sockets = 200, leak = 0, cutMs = CUT_MS } = options;
  const folder = await Deno.makeTempDir({ prefix: "svc-soak-" });
  const everyMs = Math.max(MIN_EVERY_MS, minutes * MINUTE_MS / SAMPLES);
  try {
    const launch = await observedLaunch({ folder, everyMs, leak });
    await using stack = await makeStack({ launch, listener: false });
    await using proxy = await FaultProxy.start(stack.url);
    const stage: Stage = { stack, proxy, folder, minutes, cutMs };
    return await run(stage, { sessions, sockets });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

interface Stage {
  stack: Stack;
  proxy: FaultProxy;
  folder: string;
  minutes: number;
  cutMs: number;
}

/** Makes a launch whose processes write their temporary files and their recordings to the folder. */
async function observedLaunch(observation: Observation): Promise<Launch> {
  const temporary = `${observation.folder}/tmp`;
  await Deno.mkdir(temporary);
  const program = `${CHECKOUT}tests/soak/observed.ts`;
  return [
    ...["/usr/bin/env", `TMPDIR=${temporary}`, `SVC_SOAK=${JSON.stringify(observation)}`],
    ...[Deno.execPath(), "run", "-A", "--quiet", "--no-check", "--v8-flags=--expose-gc"],
    ...["--config", `${CHECKOUT}deno.json`, program],
  ];
}

async function run(
  stage: Stage,
  { sessions, sockets }: { sessions: number; sockets: number },
): Promise<Soak> {
  const { stack, proxy, folder } = stage;
  await connectThrough(proxy, stack);
  await stack.startListener();
  const agents: EchoSession[] = [];
  for (let n = 0; n < sessions; n++) agents.push(await stack.echo(`p${n}`));
  const wsUrl = `ws://${proxy.host}/ws`;
  const idle = await openIdle(stage, sockets);
  const mirrors = agents.slice(0, MIRRORS).map(({ name }) =>
    new MirrorPhone({ wsUrl, apiKey: stack.apiKey, deviceId: stack.deviceId, session: name })
  );
  const agent = await startMcp(stack.sandbox, {
    launch: stack.launch,
    env: { SVC_SESSION: agents[0]?.name ?? "" },
  });
  const { apiKey, deviceId } = stack;
  const traffic = new Traffic({
    baseUrl: `http://${proxy.host}`,
    wsUrl,
    apiKey,
    deviceId,
    sessions: agents,
    agent,
  });
  const held = {
    pids: { relay: stack.relay.pid, listener: stack.listener.pid, mcp: agent.pid },
    sandbox: stack.sandbox,
    temporary: `${folder}/tmp`,
  };
  const links = [traffic.link, ...idle, ...mirrors.map(mirrorLink)];
  /** Pauses the traffic and replaces all connections, so that nothing is in progress. */
  const rest = async (): Promise<void> => {
    await traffic.pause();
    await cut(stage, links);
  };
  try {
    traffic.start();
    await until("every session has had a message", () => traffic.sent > 2 * sessions);
    await rest();
    const before = await lastingHoldings(held);
    const begun = performance.now();
    traffic.start();
    const { cuts, backMs } = await cutAgain(stage, links);
    const seconds = (performance.now() - begun) / 1_000;
    const memory = await recorded(folder, seconds);
    await rest();
    const after = await settledHoldings(held, before);
    const counts = await traffic.count();
    return { seconds, cuts, backMs, counts, memory, before, after, sizes: sizesOf(stack) };
  } finally {
    traffic.close();
    for (const mirror of mirrors) mirror[Symbol.dispose]();
    for (const { close } of idle) close();
    await agent.kill();
  }
}

/** Makes the listener and `svc mcp` reach the relay through the proxy. */
async function connectThrough(proxy: FaultProxy, { sandbox, apiKey }: Stack): Promise<void> {
  const config = { apiKey, hookId: "hook_test", wsUrl: `ws://${proxy.host}/ws` };
  await Deno.writeTextFile(`${sandbox.svcHome}/config.json`, JSON.stringify(config), { mode: 0o600 });
}

interface IdleLink extends CutLink {
  close(): void;
}

/** Opens phones and listeners that only hold their connection, every second pair of them through the proxy. */
async function openIdle({ stack, proxy }: Stage, count: number): Promise<IdleLink[]> {
  const data = `${stack.sandbox.svcHome}/server`;
  const keys = { phone: await newKey(data, ["push:read"]), listener: await newKey(data, ["push:read"]) };
  const links = Array.from({ length: count }, (_, n) => {
    const role = IDLE_ROLES[n % IDLE_ROLES.length] ?? "phone";
    const isCut = n % 4 >= 2;
    const wsUrl = isCut ? `ws://${proxy.host}/ws` : stack.wsUrl;
    return idleLink({ wsUrl, isCut, apiKey: keys[role], role, deviceId: `dev_${role}_idle_${n}` });
  });
  await until("idle sockets", () => links.every(({ isUp }) => isUp()));
  return links;
}

function idleLink(
  { isCut, wsUrl, apiKey, role, deviceId }: {
    isCut: boolean;
    wsUrl: string;
    apiKey: string;
    role: Role;
    deviceId: string;
  },
): IdleLink {
  let ups = 0;
  const link = new RelayLink({
    wsUrl,
    apiKey,
    hello: () => ({ role, deviceId, name: deviceId, version: "1.0.0", capabilities: [] }),
    onFrame: () => undefined,
    onState: ({ state }) => {
      if (state === "connected") ups++;
    },
  });
  link.start();
  return {
    isCut,
    ups: () => ups,
    isUp: () => link.connected,
    text: () => `${deviceId} ${JSON.stringify(link.state)}`,
    close: () => link.close(),
  };
}

/** A mirror is live only while the listener is connected too. */
function mirrorLink({ states, link }: MirrorPhone): CutLink {
  const isLive = (at: number): boolean => states[at]?.kind === "live";
  return {
    isCut: true,
    ups: () => states.filter((_, at) => isLive(at) && !isLive(at - 1)).length,
    isUp: () => isLive(states.length - 1),
    text: () => `mirror ${JSON.stringify(states.at(-1))}, ${link.state.state}`,
  };
}

/**
 * Cuts the link repeatedly until the soak's time is over, each time after all connections have been back for a while,
 * which resets their back-off. Resolves with the number of cuts and the longest time until all were back.
 */
async function cutAgain(
  stage: Stage,
  links: readonly CutLink[],
): Promise<{ cuts: number; backMs: number }> {
  const { minutes, cutMs } = stage;
  const end = performance.now() + minutes * MINUTE_MS;
  let [cuts, backMs] = [0, 0];
  for (let left = end - performance.now(); left > 0; left = end - performance.now()) {
    await new Promise((resolve) => setTimeout(resolve, Math.min(left, cutMs)));
    backMs = Math.max(backMs, await cut(stage, links));
    cuts++;
  }
  return { cuts, backMs };
}

/** How many characters of the listener's output an error contains. */
const LAST_CHARS = 2_000;

/**
 * Cuts the link. Resolves with the time until every connection through it is a new one; throws with the missing
 * connections, tmux's sessions, and the end of the listener's log.
 */
async function cut({ stack, proxy }: Stage, links: readonly CutLink[]): Promise<number> {
  const begun = performance.now();
  const ups = links.map((link) => link.ups());
  proxy.cut();
  // A client that has not noticed the cut still counts as connected, so it must connect once more.
  const away = (): CutLink[] =>
    links.filter((link, n) => !link.isUp() || (link.isCut && link.ups() === ups[n]));
  await until("all connections to be back", () => away().length === 0).catch(async ({ message }) => {
    const sessions = await stack.sandbox.tmux("list-sessions").catch(String);
    const log = stack.listener.output().slice(-LAST_CHARS);
    throw new Error([message, ...away().map(({ text }) => text()), sessions, log].join("\n"));
  });
  return performance.now() - begun;
}

const NAMES: Record<string, string> = { server: "relay", listener: "listener", mcp: "mcp" };

/** Returns what each process recorded in the last `seconds`. */
async function recorded(folder: string, seconds: number): Promise<Record<string, MemoryLine[]>> {
  const read = Object.entries(NAMES).map(async ([file, name]) => {
    const text = await Deno.readTextFile(`${folder}/${file}.jsonl`);
    const lines: MemoryLine[] = text.trim().split("\n").map((line) => JSON.parse(line));
    const last = lines.at(-1)?.at ?? 0;
    return [name, lines.filter(({ at }) => at >= last - seconds)] as const;
  });
  return Object.fromEntries(await Promise.all(read));
}

const GROWING = /^(journal|audit|listener|relay|svc)\b.*\.(jsonl|log|db|db-wal|sqlite|sqlite-wal)$/;

function sizesOf({ sandbox }: Stack): Record<string, number> {
  const sizes: Record<string, number> = {};
  for (const folder of [sandbox.svcHome, `${sandbox.svcHome}/server`]) {
    for (const { name, isFile } of Deno.readDirSync(folder)) {
      if (isFile && GROWING.test(name)) sizes[name] = Deno.statSync(`${folder}/${name}`).size;
    }
  }
  return sizes;
}
