/** A relay node that is cut off from NATS servers, and a listener that has moved to another node without the first one noticing. */
import assert from "node:assert/strict";
import { createRelayApi } from "../../src/client/api.ts";
import { Peer } from "../contract/relay_peer.ts";
import { makeNodeStage, type NodeStage } from "../helpers/node_stage.ts";
import { until } from "../helpers/until.ts";
import { checkAll, progress, report } from "./progress.ts";

const DEVICE = "dev_listener_moved";

/** Connections are accepted, but no data gets through, as behind a firewall that drops packets. */
function cutOff({ links }: NodeStage, servers: readonly number[]): void {
  for (const n of servers) {
    links[n]?.stall();
    links[n]?.cut();
  }
}

function rejoin({ links }: NodeStage): void {
  for (const link of links) link.flow();
}

Deno.test("nodes: a node cut off from each pair of three NATS servers under load loses, duplicates and reorders nothing [nodes-cut]", async () => {
  await using stage = await makeNodeStage({ sessions: 6 });
  await progress(stage);
  report(stage, "calm");
  for (const servers of [[0, 1], [1, 2], [2, 0]]) {
    cutOff(stage, servers);
    await progress(stage);
    report(stage, `relay 0 cut off from NATS ${servers.join(" and ")}`);
    rejoin(stage);
    await progress(stage);
    report(stage, "and joined again");
  }
  await checkAll(stage);
});

/** Connects a listener that records the bodies of its pushes and acknowledges them. */
async function listener({ relays, apiKey }: NodeStage, node: number): Promise<{ peer: Peer; got: string[] }> {
  const peer = await Peer.greeted(`ws://127.0.0.1:${relays[node]?.port}/ws`, {
    key: apiKey,
    hello: { role: "listener", deviceId: DEVICE },
  });
  const got: string[] = [];
  peer.socket.on("message", (data) => {
    const frame = JSON.parse(String(data));
    if (frame.event !== "push.new") return;
    // A push with a late acknowledgement comes again.
    if (!got.includes(frame.data.body)) got.push(frame.data.body);
    peer.send("push.ack", { id: frame.data.id, outcome: "submitted", final: true });
  });
  return { peer, got };
}

Deno.test("nodes: after a listener moved to another node, the previous one, cut off from NATS with its socket still open, delivers nothing more [nodes-moved]", async () => {
  await using stage = await makeNodeStage({ sessions: 2 });
  const api = createRelayApi({ baseUrl: `http://127.0.0.1:${stage.relays[2]?.port}`, apiKey: stage.apiKey });
  const send = async (body: string): Promise<string> => {
    const id = crypto.randomUUID();
    const push = {
      type: "agent.command",
      targetDeviceId: DEVICE,
      agentSessionName: "svc-moved",
      body,
    } as const;
    await api.sendPush({ ...push, id });
    return id;
  };
  const before = await listener(stage, 0);
  const first = await send("1");
  await until("the first message", () => before.got.length === 1);
  await until("its receipt", async () => (await api.getPush(first)).receipt.final);
  cutOff(stage, [0, 1, 2]);
  const now = await listener(stage, 1);
  for (const body of ["2", "3", "4"]) await send(body);
  await until("the next messages", () => now.got.length === 3);
  assert.equal(before.peer.closed, undefined, "the node that is cut off knows nothing of it");
  rejoin(stage);
  for (const body of ["5", "6"]) await send(body);
  await until("the end of the old connection", () => before.peer.closed);
  await send("7");
  await until("the last message", () => now.got.includes("7"));
  assert.deepEqual([before.got, now.got], [["1"], ["2", "3", "4", "5", "6", "7"]]);
  now.peer.socket.terminate();
  await checkAll(stage);
  report(stage, "listener moved away from a node that is cut off");
});
