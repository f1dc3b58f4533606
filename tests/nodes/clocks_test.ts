/** Three relay nodes whose clocks differ by minutes agree on what is online, what has expired, and which codes are open. */
import assert from "node:assert/strict";
import { createRelayApi } from "../../src/client/api.ts";
import { PAIRING_TTL_SECONDS } from "../../src/protocol/limits.ts";
import { say } from "../../scripts/say.ts";
import { ask, Peer } from "../contract/relay_peer.ts";
import { fakeTime, SKIPPED } from "../helpers/fake_time.ts";
import { startNats } from "../helpers/nats_server.ts";
import { newKey } from "../helpers/new_key.ts";
import { startSvc } from "../helpers/program.ts";
import { makeSandbox, type Sandbox } from "../helpers/sandbox.ts";
import { RELAY_READY } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";

/** What the nodes' clocks are ahead by, in seconds. */
const AHEAD = [0, 300, -300];
/** Times of nodes and of this test may differ by this much: the machine is busy. */
const ERROR_MS = 30_000;
const DEVICE = "dev_listener_clock";

/** The nodes' addresses; undefined where no clock can be set. */
async function startNodes(sandbox: Sandbox, servers: string): Promise<string[] | undefined> {
  const data = `${sandbox.svcHome}/server`;
  const hosts: string[] = [];
  for (const [n, seconds] of AHEAD.entries()) {
    const clock = await fakeTime(`${sandbox.root}/time-${n}`);
    if (clock === undefined) return undefined;
    await clock.set(seconds);
    const args = ["server", "--listen", "127.0.0.1:0", "--data", data, "--nats", servers];
    const node = startSvc(sandbox, args, { env: clock.env });
    const [, , host = ""] = await node.line(RELAY_READY);
    if (seconds !== 0) await node.line(/this machine's clock is (299|300|301) s (ahead of|behind) NATS's/);
    hosts.push(host);
  }
  return hosts;
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

/** A short message expires by the clock that all share, and a longer one of the same moment does not. */
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

Deno.test("nodes: whose clocks differ by ten minutes agree on what is online, expired and open [nodes-clocks]", async () => {
  await using sandbox = await makeSandbox();
  const server = await startNats(`${sandbox.root}/nats`);
  try {
    const hosts = await startNodes(sandbox, server.url);
    if (hosts === undefined) return say(SKIPPED);
    const key = await newKey(`${sandbox.svcHome}/server`, ["push:read", "push:send"]);
    await checkPresence(hosts, key);
    await checkExpiry(hosts, key);
    await checkPairing(hosts, key);
    say(`nodes clocks differ by 10 min: presence, expiry and pairing codes agree on ${hosts.length} nodes`);
  } finally {
    await server.stop("SIGKILL");
  }
});
