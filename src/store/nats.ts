/** The store in NATS JetStream: three streams, replicated over three servers if there are that many. */
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { atMost, systemClock } from "../async/clock.ts";
import { connectionFault, connectNats, payloadBytes } from "../runtime/nats.ts";
import { type NatsAddress, replicasOf } from "../runtime/nats_address.ts";
import { natsContext } from "./nats_context.ts";
import { forgetCopy, natsCopies } from "./nats_copy.ts";
import { natsDevices, natsHooks, natsInventories, natsPairings, natsWebPush } from "./nats_devices.ts";
import { natsKeys } from "./nats_keys.ts";
import { Nodes, Presences } from "./nats_presences.ts";
import { type NatsPushes, natsPushes } from "./nats_pushes.ts";
import { ATTEMPT_MS, NatsStream } from "./nats_streams.ts";
import { type Store, StoreUnavailable } from "./store.ts";

interface OpenNatsStoreOptions {
  /** The name of this relay's node, under which other nodes see that it is alive; absent for tools. */
  node?: string;
}

/** Connects, and creates what is missing. Rejects with StoreUnavailable. */
export async function openNatsStore(
  address: NatsAddress,
  options: OpenNatsStoreOptions = {},
): Promise<Store> {
  const connection = await connect(address);
  try {
    return await prepare(connection, { address, ...options });
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function connect(address: NatsAddress): Promise<NatsConnection> {
  try {
    return await connectNats(address, { name: `${address.prefix} store` });
  } catch (error) {
    if (error instanceof TypeError) throw error;
    const servers = address.servers.join(", ");
    const why = connectionFault(error, address);
    throw new StoreUnavailable(`Cannot connect to NATS at ${servers}: ${why}`, { cause: error });
  }
}

/** Creates the streams that are missing. */
async function prepareStreams(
  connection: NatsConnection,
  { prefix, servers }: NatsAddress,
): Promise<Record<"state" | "pushes" | "receipts", NatsStream>> {
  const options = { timeout: ATTEMPT_MS, checkAPI: false };
  const handles = {
    client: jetstream(connection, options),
    manager: await jetstreamManager(connection, options),
    session: () => `${connection.info?.server_id} ${connection.info?.client_id}`,
  };
  const replicas = replicasOf(servers);
  const streamOf = (name: string): NatsStream =>
    new NatsStream(handles, { name: `${prefix}-${name}`, subjects: `${prefix}.${name}.>`, replicas });
  const streams = { state: streamOf("state"), pushes: streamOf("push"), receipts: streamOf("receipt") };
  for (const stream of Object.values(streams)) await stream.prepare();
  return streams;
}

async function prepare(
  connection: NatsConnection,
  { address, node }: OpenNatsStoreOptions & { address: NatsAddress },
): Promise<Store> {
  const { prefix } = address;
  const streams = await prepareStreams(connection, address);
  const context = natsContext(streams, {
    prefix,
    node: node ?? crypto.randomUUID(),
    maxBytes: () => payloadBytes(connection),
  });
  const nodes = new Nodes(context);
  const presences = new Presences(context, nodes);
  if (node !== undefined) {
    await nodes.start();
    await forgetCopy(context);
    await presences.start();
  }
  const pushes = natsPushes(context, { prefix, presences, now: () => nodes.now() });
  const stopCheckpoints = node === undefined ? () => undefined : keepCheckpoints(pushes);
  return {
    ...natsKeys(context),
    ...natsDevices(context, { presences, newestPush: () => pushes.newestPush() }),
    ...pushes,
    ...natsInventories(context),
    ...natsPairings(context),
    ...natsWebPush(context),
    ...natsHooks(context),
    ...natsCopies(context, { prefix, nodes, presences, pushes }),
    clockOffset: () => nodes.clockOffset,
    async ready() {
      await Promise.all(Object.values(streams).map((stream) => stream.lastSeq()));
    },
    backup: () =>
      Promise.reject(
        new StoreUnavailable(
          "Cannot copy a store in NATS into a file: use nats stream backup, or svc server migrate",
        ),
      ),
    async close() {
      stopCheckpoints();
      presences.stop();
      pushes.stop();
      await endNode(nodes, { connection, isKept: presences.isGoing });
    },
  };
}

/** How long a closing node tries to remove its entry. */
const END_MS = 400;

/**
 * Removes this node's entry, unless `isKept`, and closes the connection. If NATS cannot be reached, other nodes notice
 * that its heartbeats have stopped.
 */
async function endNode(
  nodes: Nodes,
  { connection, isKept }: { connection: NatsConnection; isKept: boolean },
): Promise<void> {
  const ended = nodes.end({ isKept }).catch(() => undefined);
  await atMost(ended, { clock: systemClock, ms: END_MS });
  await connection.close();
  // Settles now, because nothing is retried on a closed connection.
  await ended;
}

const CHECKPOINT_MS = 10_000;

/**
 * Saves a checkpoint every `CHECKPOINT_MS`; a failure is ignored, because the next one follows. Returns the function
 * that stops it.
 */
function keepCheckpoints(pushes: NatsPushes): () => void {
  let cancel = (): void => undefined;
  let isOver = false;
  const next = (): void => {
    cancel = systemClock.after(CHECKPOINT_MS, () => {
      pushes.saveCheckpoint().catch(() => undefined).finally(() => {
        if (!isOver) next();
      });
    });
  };
  next();
  return () => {
    isOver = true;
    cancel();
  };
}
