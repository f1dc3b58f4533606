/** NATS continues without its newest messages, as after a power failure: later messages reach every node. */
import assert from "node:assert/strict";
import { cp, rm } from "node:fs/promises";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connectNats } from "../../src/runtime/nats.ts";
import { natsContext } from "../../src/store/nats_context.ts";
import { natsKeys } from "../../src/store/nats_keys.ts";
import { Nodes, Presences } from "../../src/store/nats_presences.ts";
import { natsPushes } from "../../src/store/nats_pushes.ts";
import { NatsStream } from "../../src/store/nats_streams.ts";
import type { Revocation } from "../../src/store/store.ts";
import { type NatsServer, startNats } from "../helpers/nats_server.ts";
import type { Case } from "../helpers/on_node.ts";
import { until } from "../helpers/until.ts";
import { aKey, aPush, idsOf, NOW, queued, uuid } from "./store_samples.ts";

/** Waits only briefly for a lagging server. */
class HastyStream extends NatsStream {
  protected override lossAfterMs = 100;
}

const LISTENER = { account: "a", id: "dev_l" };
const FINAL = { ...queued, state: "typed", final: true } as const;

/** Opens two nodes that follow the streams, and the server that they share. */
async function openNodes(server: NatsServer) {
  const connection = await connectNats({ servers: [server.url], prefix: "test" }, { name: "test" });
  const handles = {
    client: jetstream(connection),
    manager: await jetstreamManager(connection),
    session: () => `${connection.info?.server_id} ${connection.info?.client_id}`,
  };
  const streamOf = (name: string) =>
    new HastyStream(handles, { name: `test-${name}`, subjects: `test.${name}.>`, replicas: 1 });
  const open = async (node: string) => {
    const streams = { state: streamOf("state"), pushes: streamOf("push"), receipts: streamOf("receipt") };
    for (const stream of Object.values(streams)) await stream.prepare();
    const context = natsContext(streams, { prefix: "test", node, maxBytes: () => 1_048_576 });
    const nodes = new Nodes(context);
    const options = { prefix: "test", presences: new Presences(context, nodes), now: () => nodes.now() };
    return { ...natsPushes(context, options), ...natsKeys(context) };
  };
  const [one, other] = [await open("one"), await open("other")];
  const heard: number[] = [];
  other.watchPushes?.(({ seq }) => heard.push(seq));
  const close = async (): Promise<void> => {
    for (const node of [one, other]) node.stop();
    await connection.close();
  };
  return { one, other, heard, close };
}

type LossyNodes = Awaited<ReturnType<typeof openNodes>> & {
  /** Copies NATS's current state. */
  keep(): Promise<void>;
  /** Restores the copied state of all streams or of one. */
  lose(stream?: string): Promise<void>;
};

async function withLossyNodes(directory: string, body: (nodes: LossyNodes) => Promise<void>): Promise<void> {
  const server = await startNats(directory);
  const nodes = await openNodes(server);
  const [data, kept] = [`${directory}/jetstream`, `${directory}/kept`];
  const keep = async (): Promise<void> => {
    await server.stop();
    await cp(data, kept, { recursive: true });
    await server.restart();
  };
  const lose = async (stream?: string): Promise<void> => {
    const part = stream === undefined ? "" : `/jetstream/$G/streams/${stream}`;
    await server.stop();
    await rm(data + part, { recursive: true });
    await cp(kept + part, data + part, { recursive: true });
    await server.restart();
  };
  try {
    await body({ ...nodes, keep, lose });
  } finally {
    await nodes.close();
    await server.stop();
  }
}

const openIds = async ({ other }: LossyNodes) =>
  idsOf(await other.openPushes(LISTENER, { afterSeq: 0, limit: 9 }));

async function deliverAfterLoss(nodes: LossyNodes): Promise<void> {
  const { one, other, heard, keep, lose } = nodes;
  await one.insertPush(aPush(1));
  await keep();
  for (const n of [2, 3, 4]) await one.insertPush(aPush(n));
  await until("the other node has heard of all", () => heard.includes(4));
  await other.pagePushes({ account: "a", limit: 9, bytes: 1_000_000 });
  await lose();
  await one.insertPush(aPush(5));
  await until("the push that was stored then", async () => (await openIds(nodes))?.includes(uuid(5)));
  assert.deepEqual(await openIds(nodes), [1, 5].map(uuid));
  const page = await other.pagePushes({ account: "a", limit: 9, bytes: 1_000_000 });
  assert.deepEqual(idsOf(page?.pushes), [1, 5].map(uuid));
}

/** The receipt of a lost push must not close the push that has taken its place. */
async function deliverInPlaceOfFinal(nodes: LossyNodes): Promise<void> {
  const { one, heard, keep, lose } = nodes;
  await one.insertPush(aPush(1));
  await keep();
  await one.insertPush(aPush(2));
  await until("the push is known", () => heard.includes(2));
  await one.changeReceipt({ account: "a", id: uuid(2) }, () => FINAL);
  await until("its receipt is known", async () => (await openIds(nodes))?.length === 1);
  await lose("test-push");
  await one.insertPush(aPush(5));
  await until("the push that was stored then", async () => (await openIds(nodes))?.includes(uuid(5)));
  const page = await nodes.other.pagePushes({ account: "a", limit: 9, bytes: 1_000_000 });
  assert.deepEqual(idsOf(page?.pushes), [1, 5].map(uuid));
}

/** A node that read the key before the loss must receive a revocation after it. */
async function revokeAfterLoss({ one, other, keep, lose }: LossyNodes): Promise<void> {
  const revoked: Revocation[] = [];
  const stop = other.watchRevocations((revocation) => revoked.push(revocation));
  for (const n of [1, 2]) await one.insertKey(aKey(n));
  await keep();
  await one.insertKey(aKey(3));
  await one.revokeKey("key_1", NOW);
  await until("the first revocation", () => revoked.some(({ id }) => id === "key_1"));
  await lose();
  await one.revokeKey("key_2", NOW + 1);
  await until("the revocation that was stored then", () => revoked.some(({ id }) => id === "key_2"));
  stop();
}

export const cases: readonly Case[] = [
  {
    name: "a push that is stored after NATS has lost its newest ones is delivered [nats-loss]",
    run: (_runtime, directory) => withLossyNodes(directory, deliverAfterLoss),
  },
  {
    name: "a push is delivered although a lost one, which was final, had its place in the stream [nats-loss]",
    run: (_runtime, directory) => withLossyNodes(directory, deliverInPlaceOfFinal),
  },
  {
    name: "a revocation that is stored after NATS has lost its newest messages is announced [nats-loss]",
    run: (_runtime, directory) => withLossyNodes(directory, revokeAfterLoss),
  },
];
