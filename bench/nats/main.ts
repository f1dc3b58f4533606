/** `deno task bench:nodes [part]`: the cost of several nodes: pushes per second, latency between two nodes, traffic in NATS, idle sockets. */
import { delay, systemClock } from "../../src/async/clock.ts";
import { createRelayApi } from "../../src/client/api.ts";
import { INVENTORY_HEARTBEAT_MS } from "../../src/protocol/limits.ts";
import { encodeBinaryFrame, PANE_FRAME } from "../../src/protocol/pane_frame.ts";
import { say } from "../../scripts/say.ts";
import { Peer } from "../../tests/contract/relay_peer.ts";
import { sessionNamed } from "../../tests/unit/relay/fixture.ts";
import { runOwnProcess } from "../../tests/helpers/own_process.ts";
import { until } from "../../tests/helpers/until.ts";
import { figures } from "../measure.ts";
import { residentBytes } from "../process_figures.ts";
import { deviceOf, type IdleListeners } from "./idle_listeners.ts";
import { type BenchStage, makeBenchStage, type RelayNode, type Traffic } from "./stage.ts";

const SENDERS = 16;
const LOAD_MS = 8_000;
const WAYS = 300;
const FRAME_BYTES = 1_024;
/** Below the number that a key may send at once. */
const REPORTS = 20;
const IDLE = Number(Deno.env.get("SVC_BENCH_IDLE") ?? 10_000);
const IDLE_PER_ACCOUNT = 50;
const IDLE_PROCESSES = 4;
const NONE_MINUTES = 1;
/** Long enough for each listener to send ten reports, of which one is stored. */
const IDLE_MINUTES = 5;
const IDLE_PROCESS = import.meta.resolve("./idle_listeners.ts");

const ms = (value: number): string => `${value.toFixed(1)} ms`;

async function listener(node: RelayNode, { key, n }: { key: string; n: number }): Promise<Peer> {
  return await Peer.greeted(`ws://${node.host}/ws`, {
    key,
    hello: { role: "listener", deviceId: deviceOf(n) },
  });
}

/** Acknowledges each push and then calls `heard` with its id. */
function acknowledge(peer: Peer, heard: (id: string) => void): void {
  peer.socket.on("message", (data, isBinary) => {
    if (isBinary) return;
    const frame = JSON.parse(String(data));
    if (frame.event !== "push.new") return;
    peer.send("push.ack", { id: frame.data.id, outcome: "submitted", final: true });
    heard(frame.data.id);
  });
}

/** Each sender sends its next push when the previous one is accepted; the listeners are spread over the nodes. */
async function throughput(nodes: number): Promise<void> {
  await using stage = await makeBenchStage({ nodes });
  const arrived = new Map<string, number>();
  const keys = await Promise.all(Array.from({ length: SENDERS }, (_, n) => stage.key(`account-${n}`)));
  const peers = await Promise.all(keys.map(async (key, n) => {
    const peer = await listener(at(stage, n + 1), { key, n });
    acknowledge(peer, (id) => arrived.set(id, performance.now()));
    return peer;
  }));
  const [accepted, delivered]: [number[], number[]] = [[], []];
  const sent = new Map<string, number>();
  const end = performance.now() + LOAD_MS;
  await Promise.all(keys.map(async (apiKey, n) => {
    const api = createRelayApi({ baseUrl: `http://${at(stage, n).host}`, apiKey });
    while (performance.now() < end) {
      const began = performance.now();
      const id = crypto.randomUUID();
      sent.set(id, began);
      try {
        await api.sendPush({
          id,
          type: "agent.command",
          targetDeviceId: deviceOf(n),
          agentSessionName: "svc-b",
          body: "x",
        });
        accepted.push(performance.now() - began);
      } catch {
        // The key's limit was exceeded.
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  }));
  await until("every push has arrived", () => arrived.size >= accepted.length);
  for (const [id, time] of arrived) delivered.push(time - (sent.get(id) ?? time));
  for (const peer of peers) peer.socket.terminate();
  const [yes, there] = [figures(accepted), figures(delivered)];
  const where = nodes === 0 ? "SQLite, one relay" : `NATS, ${nodes} ${nodes === 1 ? "node" : "nodes"}`;
  say(
    `pushes, ${where}: ${Math.round(accepted.length / LOAD_MS * 1_000)} a second; accepted p50 ${
      ms(yes.median)
    }, ` +
      `p99 ${ms(yes.p99)}; at the listener p50 ${ms(there.median)}, p99 ${ms(there.p99)}`,
  );
}

function at({ nodes }: BenchStage, n: number): RelayNode {
  const node = nodes[n % nodes.length];
  if (node === undefined) throw new Error("there is no node");
  return node;
}

/**
 * Measures a push and a mirrored frame, with a listener on the same node and on another, and what each costs in NATS.
 */
async function ways(): Promise<void> {
  await using stage = await makeBenchStage({ nodes: 2, servers: 1 });
  for (const [n, where] of ["the same node", "another node"].entries()) {
    const key = await stage.key(`ways-${n}`);
    const peer = await listener(at(stage, n), { key, n });
    await pushWay(stage, { key, n, peer, where });
    await frameWay(stage, { key, n, peer, where });
    if (n === 0) {
      for (const kind of ["changed", "unchanged"] as const) await reports(stage, { peer, kind });
    }
    peer.socket.terminate();
  }
}

interface Way {
  key: string;
  n: number;
  peer: Peer;
  where: string;
}

async function pushWay(stage: BenchStage, { key, n, peer, where }: Way): Promise<void> {
  const api = createRelayApi({ baseUrl: `http://${at(stage, 0).host}`, apiKey: key });
  let heard: () => void = () => undefined;
  acknowledge(peer, () => heard());
  const times: number[] = [];
  const before = await stage.traffic();
  for (let push = 0; push < WAYS; push++) {
    const arrived = new Promise<void>((resolve) => heard = resolve);
    const began = performance.now();
    await api.sendPush({
      type: "agent.command",
      targetDeviceId: deviceOf(n),
      agentSessionName: "svc-b",
      body: "x",
    });
    await arrived;
    times.push(performance.now() - began);
    // Stays below the limits on messages per session and per key.
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
  await report(stage, { what: `push to a listener on ${where}`, times, before });
}

async function frameWay(stage: BenchStage, { key, n, peer, where }: Way): Promise<void> {
  const phone = await Peer.greeted(`ws://${at(stage, 0).host}/ws`, { key, hello: {} });
  phone.send("pane.open", { stream: 1, deviceId: deviceOf(n), agentSessionName: "svc-b" } as never);
  const { stream } = await peer.first("pane.open");
  let heard: () => void = () => undefined;
  phone.socket.on("message", (_data, isBinary) => isBinary && heard());
  const payload = new Uint8Array(FRAME_BYTES);
  const times: number[] = [];
  const before = await stage.traffic();
  for (let frame = 0; frame < WAYS; frame++) {
    const arrived = new Promise<void>((resolve) => heard = resolve);
    const began = performance.now();
    peer.socket.send(encodeBinaryFrame({ kind: PANE_FRAME, stream, payload }));
    await arrived;
    times.push(performance.now() - began);
  }
  await report(stage, { what: `mirrored frame of ${FRAME_BYTES} bytes from ${where}`, times, before });
  phone.socket.terminate();
}

/** Measures what a listener's report costs in NATS. */
async function reports(
  stage: BenchStage,
  { peer, kind }: { peer: Peer; kind: "changed" | "unchanged" },
): Promise<void> {
  const session = sessionNamed("svc-b");
  const stored = () => peer.received("listener.stored").length;
  const before = await stage.traffic();
  for (let n = 0; n < REPORTS; n++) {
    const wanted = stored() + 1;
    const title = kind === "changed" ? `${n}` : `${REPORTS - 1}`;
    peer.send("listener.sessions", { sequence: n + 1, sessions: [{ ...session, title }] });
    await until("the report is acknowledged", () => stored() >= wanted);
  }
  say(`report with one session, ${kind}: in NATS ${await costSince(stage, { before, count: REPORTS })} each`);
}

async function report(
  stage: BenchStage,
  { what, times, before }: { what: string; times: number[]; before: Traffic },
): Promise<void> {
  const { median, p99 } = figures(times);
  const cost = await costSince(stage, { before, count: times.length });
  say(`${what}: p50 ${ms(median)}, p99 ${ms(p99)}; in NATS ${cost} each`);
}

async function costSince(
  stage: BenchStage,
  { before, count }: { before: Traffic; count: number },
): Promise<string> {
  const { messages, bytes } = await stage.traffic();
  return `${((messages - before.messages) / count).toFixed(1)} messages and ${
    Math.round((bytes - before.bytes) / count)
  } bytes`;
}

/** Measures idle listeners on three nodes: the memory of their sockets, and NATS traffic per minute. */
async function idle(): Promise<void> {
  await using stage = await makeBenchStage({ nodes: 3, servers: 1 });
  const none = await perMinute(stage, NONE_MINUTES);
  const before = await resident(stage);
  await using processes = new AsyncDisposableStack();
  const began = performance.now();
  const started = await Promise.all(Array.from({ length: IDLE_PROCESSES }, async (_, n) => {
    const count = Math.ceil(IDLE / IDLE_PER_ACCOUNT / IDLE_PROCESSES);
    const keys: string[] = [];
    for (let one = 0; one < count; one++) keys.push(await stage.key(`idle-${n}-${one}`));
    const wanted: IdleListeners = {
      ...{ keys, perKey: IDLE_PER_ACCOUNT },
      hosts: stage.nodes.map(({ host }) => host),
    };
    return processes.use(runOwnProcess<{ connected: number }>(IDLE_PROCESS, [JSON.stringify(wanted)]));
  }));
  const connected = (await Promise.all(started.map(({ result }) => result)))
    .reduce((sum, one) => sum + one.connected, 0);
  const seconds = (performance.now() - began) / 1_000;
  const memory = (await resident(stage) - before) / connected;
  // By then each has reported once.
  await delay(INVENTORY_HEARTBEAT_MS, { clock: systemClock });
  const { messages, bytes } = await perMinute(stage, IDLE_MINUTES);
  const left = await listenersOn(stage);
  say(
    `idle, ${connected} listeners on three nodes, connected in ${seconds.toFixed(0)} s: ${
      Math.round(memory / 1_024)
    } KiB of memory each, ${
      Math.round((await resident(stage) - before) / connected / 1_024)
    } after ${IDLE_MINUTES} minutes; ` +
      `in NATS ${messages} messages and ${bytes} bytes a minute, without listeners ${none.messages} and ${none.bytes}`,
  );
  if (left !== connected) throw new Error(`${connected - left} of the idle listeners were closed`);
}

async function listenersOn({ nodes }: BenchStage): Promise<number> {
  const counts = await Promise.all(nodes.map(async ({ host }) => {
    const metrics = await (await fetch(`http://${host}/metrics`)).text();
    return Number(/^svc_connections\{role="listener"\} (\d+)$/m.exec(metrics)?.[1] ?? 0);
  }));
  return counts.reduce((sum, one) => sum + one, 0);
}

async function perMinute(stage: BenchStage, minutes: number): Promise<Traffic> {
  const before = await stage.traffic();
  await delay(minutes * 60_000, { clock: systemClock });
  const after = await stage.traffic();
  return {
    messages: Math.round((after.messages - before.messages) / minutes),
    bytes: Math.round((after.bytes - before.bytes) / minutes),
  };
}

async function resident({ nodes }: BenchStage): Promise<number> {
  const bytes = await Promise.all(nodes.map(({ process }) => residentBytes(process.pid)));
  return bytes.reduce((sum, one) => sum + one, 0);
}

const PARTS: Record<string, () => Promise<void>> = {
  async pushes() {
    for (const nodes of [0, 1, 2, 3]) await throughput(nodes);
  },
  ways,
  idle,
};

const [wanted] = Deno.args;
for (const [name, part] of Object.entries(PARTS)) if (wanted === undefined || wanted === name) await part();
