/** Three relay nodes whose clocks differ by minutes agree on everything that has a time, keep the order of a session, and share limits. */
import assert from "node:assert/strict";
import { createRelayApi } from "../../src/client/api.ts";
import {
  HTTP_REQUESTS_BURST,
  HTTP_REQUESTS_PER_SECOND,
  PAIRING_TTL_SECONDS,
} from "../../src/protocol/limits.ts";
import { say } from "../../scripts/say.ts";
import { ask, Peer } from "../contract/relay_peer.ts";
import { type FakeTime, fakeTime, SKIPPED } from "../helpers/fake_time.ts";
import { startNats } from "../helpers/nats_server.ts";
import { newKey } from "../helpers/new_key.ts";
import { listen, Session } from "../helpers/node_stage.ts";
import { startSvc } from "../helpers/program.ts";
import { makeSandbox, type Sandbox } from "../helpers/sandbox.ts";
import { RELAY_READY } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";

/** How far the nodes' clocks are ahead, in seconds. */
const AHEAD = [0, 300, -300];
/** The busy machine may make the times of nodes and of this test differ by this much. */
const ERROR_MS = 30_000;
const DEVICE = "dev_listener_clock";
/** Messages to a session before its listener connects or disconnects. */
const TURNS = 20;
/** What a running node's clock is set to, in seconds ahead. */
const JUMPS = [900, -900, 0];
/** How long a key sends requests as fast as it can. */
const LIMIT_MS = 8_000;
/** How many requests to each node run at a time. */
const ASKERS = 4;
/** How many wrong codes an address may send at once, and per second. */
const WRONG_CODES = 10;
const WRONG_CODES_PER_SECOND = 0.2;

interface ClockNode {
  host: string;
  clock: FakeTime;
}

/** Returns undefined if no clock can be set. */
async function startNodes(sandbox: Sandbox, servers: string): Promise<ClockNode[] | undefined> {
  const data = `${sandbox.svcHome}/server`;
  const nodes: ClockNode[] = [];
  for (const [n, seconds] of AHEAD.entries()) {
    const clock = await fakeTime(`${sandbox.root}/time-${n}`);
    if (clock === undefined) return undefined;
    await clock.set(seconds);
    const args = ["server", "--listen", "127.0.0.1:0", "--data", data, "--nats", servers];
    const node = startSvc(sandbox, args, { env: clock.env });
    const [, , host = ""] = await node.line(RELAY_READY);
    if (seconds !== 0) await node.line(/this machine's clock is (299|300|301) s (ahead of|behind) NATS's/);
    nodes.push({ host, clock });
  }
  return nodes;
}

async function checkPresence(hosts: readonly string[], key: string): Promise<void> {
  const peer = await Peer.greeted(`ws://${hosts[0]}/ws`, {
    key,
    hello: { role: "listener", deviceId: DEVICE },
  });
  for (const host of hosts) {
    const { json } = await ask(`http://${host}`, { path: "/devices", key });
    const devices = json["devices"] as { id: string; online: boolean }[];
    assert.equal(devices.find(({ id }) => id === DEVICE)?.online, true, host);
  }
  await peer.leave();
}

/** Checks that a short message expires by the shared clock, and that a longer one from the same moment does not. */
async function checkExpiry(hosts: readonly string[], key: string): Promise<void> {
  const apis = hosts.map((host) => createRelayApi({ baseUrl: `http://${host}`, apiKey: key }));
  const sent = await Promise.all(apis.map(async (api) => {
    const push = {
      type: "agent.command",
      targetDeviceId: DEVICE,
      agentSessionName: "svc-c",
      body: "x",
    } as const;
    const long = await api.sendPush({ ...push, ttlSeconds: 200 });
    return { long, short: await api.sendPush({ ...push, ttlSeconds: 10 }) };
  }));
  for (const [n, { long, short }] of sent.entries()) {
    const [api] = apis;
    assert.ok(api !== undefined);
    await until(
      `the end of the short message of node ${n}`,
      async () => (await api.getPush(short.id)).receipt.final,
    );
    const { receipt, push } = await api.getPush(long.id);
    assert.equal(receipt.state, "queued", `node ${n}`);
    const offset = Math.abs(push.createdAt - Date.now());
    assert.ok(offset < ERROR_MS, `node ${n} dates its messages ${offset} ms off`);
  }
}

async function checkPairing(hosts: readonly string[], key: string): Promise<void> {
  for (const [n, host] of hosts.entries()) {
    const { json } = await ask(`http://${host}`, { method: "POST", path: "/pairings", key });
    const { code, expiresAt } = json as { code: string; expiresAt: number };
    const off = Math.abs(expiresAt - PAIRING_TTL_SECONDS * 1_000 - Date.now());
    assert.ok(off < ERROR_MS, `a code of node ${n} is dated ${off} ms off`);
    const path = `/pairings/${code}/claim`;
    const body = { deviceId: `dev_phone_${n}`, name: "phone" };
    const claimed = await ask(`http://${hosts[(n + 1) % hosts.length]}`, { method: "POST", path, body });
    assert.equal(claimed.status, 201, JSON.stringify(claimed.json));
  }
}

/** Sends messages to one session through the nodes in turn, while its listener is connected and while it is not. */
async function checkOrder(hosts: readonly string[], apiKey: string): Promise<void> {
  const session = new Session("svc-o");
  const deviceId = "dev_listener_order";
  const apis = hosts.map((host) => createRelayApi({ baseUrl: `http://${host}`, apiKey }));
  let sent = 0;
  const send = async (count: number): Promise<void> => {
    for (const end = sent + count; sent < end; sent++) {
      await apis[sent % apis.length]?.sendPush({
        type: "agent.command",
        targetDeviceId: deviceId,
        agentSessionName: session.name,
        body: `${sent}`,
      });
    }
  };
  for (const host of hosts) {
    const link = listen(session, { host, apiKey, deviceId });
    await until("the listener is connected", () => link.connected);
    await send(TURNS);
    await until("all have arrived", () => session.arrived.length === sent);
    link.close();
    await send(TURNS);
  }
  const link = listen(session, { host: hosts[0] ?? "", apiKey, deviceId });
  await until("the rest has arrived", () => session.arrived.length === sent);
  link.close();
  assert.deepEqual(session.arrived, Array.from({ length: sent }, (_, n) => n));
}

/** Checks that setting a node's clock while it runs changes nothing, from the first moment on. */
async function checkJumps(nodes: readonly ClockNode[], apiKey: string): Promise<void> {
  for (const [n, { host, clock }] of nodes.entries()) {
    const api = createRelayApi({ baseUrl: `http://${host}`, apiKey });
    for (const seconds of JUMPS) {
      await clock.set(seconds);
      const { id } = await api.sendPush({
        type: "agent.command",
        targetDeviceId: DEVICE,
        agentSessionName: "svc-c",
        body: "x",
      });
      const off = Math.abs((await api.getPush(id)).push.createdAt - Date.now());
      assert.ok(off < ERROR_MS, `node ${n}, set to ${seconds} s, dates a message ${off} ms off`);
    }
  }
}

/** Checks that one key that sends to all nodes as fast as it can gets what one node would allow, and the bursts. */
async function checkLimit(nodes: readonly ClockNode[], key: string): Promise<void> {
  const began = performance.now();
  const passed = (): number => performance.now() - began;
  let answered = 0;
  let wait = 0;
  const askOften = async ({ host }: ClockNode): Promise<void> => {
    while (passed() < LIMIT_MS) {
      const answer = await fetch(`http://${host}/devices`, { headers: { "x-api-key": key } });
      await answer.body?.cancel();
      if (answer.ok) answered += 1;
      // An overloaded relay also answers 503.
      if (answer.status === 429) wait = Math.max(wait, Number(answer.headers.get("retry-after")));
    }
  };
  await Promise.all(nodes.flatMap((node) => Array.from({ length: ASKERS }, () => askOften(node))));
  const most = (nodes.length + 1) * HTTP_REQUESTS_BURST + HTTP_REQUESTS_PER_SECOND * passed() / 1_000;
  const longest = (nodes.length + 1) * HTTP_REQUESTS_BURST / HTTP_REQUESTS_PER_SECOND;
  const found = `${answered} answers of at most ${Math.round(most)}, and a wait of ${wait} s`;
  assert.ok(answered > 0 && answered <= most && wait <= longest, found);
  for (const node of nodes) await checkRefill(node);
}

/** Checks that a refused client gets no more than it has earned since, even when the node's clock is set. */
async function checkRefill({ host, clock }: ClockNode): Promise<void> {
  for (const seconds of JUMPS) {
    let refusedAt = performance.now();
    for (;; refusedAt = performance.now()) if (await statusOfWrongCode(host) === 429) break;
    await clock.set(seconds);
    let answered = 0;
    for (let n = 0; n < WRONG_CODES; n++) if (await statusOfWrongCode(host) !== 429) answered += 1;
    const earned = 1 + WRONG_CODES_PER_SECOND * (performance.now() - refusedAt) / 1_000;
    assert.ok(answered <= earned, `${answered} wrong codes, ${earned} were earned: set to ${seconds} s`);
  }
}

/** Resolves with the status of a wrong code, which is limited so strictly that no machine is too slow for the limit. */
async function statusOfWrongCode(host: string): Promise<number> {
  const body = { deviceId: "dev_phone_wrong", name: "phone" };
  const path = "/pairings/AAAA-AAAA/claim";
  return (await ask(`http://${host}`, { method: "POST", path, body })).status;
}

Deno.test("nodes: nodes with clocks ten minutes apart agree on what is online, expired and open, keep order, and share limits, even when the clocks are set [nodes-clocks, nodes-limits]", async () => {
  await using sandbox = await makeSandbox();
  const server = await startNats(`${sandbox.root}/nats`);
  try {
    const nodes = await startNodes(sandbox, server.url);
    if (nodes === undefined) return say(SKIPPED);
    const hosts = nodes.map(({ host }) => host);
    const key = await newKey(`${sandbox.svcHome}/server`, ["push:read", "push:send"]);
    await checkPresence(hosts, key);
    await checkExpiry(hosts, key);
    await checkPairing(hosts, key);
    await checkOrder(hosts, key);
    await checkJumps(nodes, key);
    await checkLimit(nodes, await newKey(`${sandbox.svcHome}/server`, ["push:read"]));
    say(
      `nodes clocks differ by 10 min: presence, expiry, pairing codes, order and limits agree on ${hosts.length} nodes`,
    );
  } finally {
    await server.stop("SIGKILL");
  }
});
