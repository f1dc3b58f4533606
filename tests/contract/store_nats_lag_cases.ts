/** Nodes and servers of NATS that know different things for a moment: nothing is missed or taken for gone meanwhile. */
import assert from "node:assert/strict";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import type { Receipt } from "../../src/protocol/receipt.ts";
import { connectNats } from "../../src/runtime/nats.ts";
import { natsContext } from "../../src/store/nats_context.ts";
import { Nodes, Presences } from "../../src/store/nats_presences.ts";
import { natsPushes } from "../../src/store/nats_pushes.ts";
import type { Consuming } from "../../src/store/nats_following.ts";
import { type Entry, NatsStream } from "../../src/store/nats_streams.ts";
import type { StoredPush } from "../../src/store/store.ts";
import { startNats } from "../helpers/nats_server.ts";
import type { Case } from "../helpers/on_node.ts";
import { until } from "../helpers/until.ts";
import { aPush, idsOf, uuid } from "./store_samples.ts";

/** Stands in for a leader that lags: its reads end with the message `upTo`, while followers hear of all. */
class LaggingStream extends NatsStream {
  upTo = Infinity;
  /** How often it was asked for its last message. */
  asked = 0;

  override async get(subject: string): Promise<Entry | undefined> {
    const entry = await super.get(subject);
    return entry !== undefined && entry.seq <= this.upTo ? entry : undefined;
  }

  override async lastSeq(): Promise<number> {
    this.asked += 1;
    return Math.min(await super.lastSeq(), this.upTo);
  }
}

/** Its consumers are on a server that lags: nothing waits there until it catches up. */
class LateStream extends NatsStream {
  caughtUp = Promise.resolve();

  protected override async consume(filter: string, from: number): Promise<Consuming> {
    const { messages } = await super.consume(filter, from);
    const caughtUp = this.caughtUp;
    const late = {
      stop: () => messages.stop(),
      async *[Symbol.asyncIterator]() {
        await caughtUp;
        yield* messages;
      },
    };
    return { messages: late, pending: 0 };
  }
}

/** Its writes wait for something else. */
class WaitingStream extends NatsStream {
  before: () => Promise<unknown> = () => Promise.resolve();

  override async put(...args: Parameters<NatsStream["put"]>): Promise<number | undefined> {
    await this.before();
    return await super.put(...args);
  }
}

/** Two nodes on one server; the first one's writes of pushes can wait, and the leader that the second one asks lags. */
async function openNodes(url: string) {
  const connection = await connectNats({ servers: [url], prefix: "test" }, { name: "test" });
  const handles = { client: jetstream(connection), manager: await jetstreamManager(connection) };
  const optionsOf = (name: string) => ({ name: `test-${name}`, subjects: `test.${name}.>`, replicas: 1 });
  const streams = {
    state: new NatsStream(handles, optionsOf("state")),
    pushes: new WaitingStream(handles, optionsOf("push")),
    receipts: new NatsStream(handles, optionsOf("receipt")),
  };
  for (const stream of Object.values(streams)) await stream.prepare();
  const leader = new LaggingStream(handles, optionsOf("push"));
  const [one, other] = [streams, { ...streams, pushes: leader }].map((of, n) => {
    const context = natsContext(of, { prefix: "test", node: `node-${n}` });
    return natsPushes(context, { prefix: "test", presences: new Presences(context, new Nodes(context)) });
  });
  assert.ok(one !== undefined && other !== undefined);
  const close = async (): Promise<void> => {
    for (const node of [one, other]) node.stop();
    await connection.close();
  };
  return { one, other, writes: streams.pushes, leader, close };
}

async function findLagging({ one, other, leader }: Awaited<ReturnType<typeof openNodes>>): Promise<void> {
  const open = () => other.openPushes({ account: "a", id: "dev_l" }, { afterSeq: 0, limit: 9 });
  const known = new Set<number>();
  other.watchPushes?.(({ seq }) => known.add(seq));
  assert.deepEqual(await open(), []);
  leader.upTo = 0;
  const first = await one.insertPush(aPush(1));
  await until("the push is announced", () => known.has(first.stored.seq));
  const asked = leader.asked;
  const reading = open();
  await Promise.race([reading, until("the leader is asked again", () => leader.asked >= asked + 3)]);
  leader.upTo = Infinity;
  assert.deepEqual(idsOf(await reading), [uuid(1)]);
  const second = await one.insertPush(aPush(2));
  await until("the push is announced", () => known.has(second.stored.seq));
  assert.deepEqual(idsOf(await open()), [uuid(1), uuid(2)]);
  assert.equal(await one.removePushes({ madeBefore: Number.MAX_SAFE_INTEGER, expiredBefore: 0 }), 2);
  assert.deepEqual(await open(), []);
}

/** The other node completes the answer from the question's receipt before the one that closed it has stored it. */
async function answerCompletedFirst({ one, other, writes }: Awaited<ReturnType<typeof openNodes>>) {
  const answer = aPush(2);
  const name = { account: answer.account, id: answer.push.id };
  await one.insertPush(aPush(1));
  assert.equal((await other.duePushes({ now: Number.MAX_SAFE_INTEGER, limit: 9 })).length, 1, "it follows");
  writes.before = () => until("the answer", () => other.findPush(name));
  const close = ({ receipt }: StoredPush): Receipt => ({ ...receipt, state: "answered", final: true });
  const outcome = await one.insertAnswer(answer, { id: uuid(1), close });
  assert.equal(outcome.kind, "stored");
}

/** What was stored before a page is asked for is on it, wherever the page's consumer is. */
async function pageBehind(directory: string): Promise<void> {
  const server = await startNats(directory);
  const connection = await connectNats({ servers: [server.url], prefix: "test" }, { name: "test" });
  try {
    const handles = { client: jetstream(connection), manager: await jetstreamManager(connection) };
    const stream = new LateStream(handles, { name: "test-push", subjects: "test.push.>", replicas: 1 });
    await stream.prepare();
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await stream.put("test.push.a.1", "one", { note: "1" });
    stream.caughtUp = first.promise;
    const seen: string[] = [];
    const scanning = stream.scan("test.push.>", ({ note }) => void seen.push(note));
    await Promise.race([scanning, stream.lastSeq().then(() => stream.lastSeq())]);
    assert.deepEqual(seen, []);
    first.resolve();
    await scanning;
    assert.deepEqual(seen, ["1"]);
    stream.caughtUp = second.promise;
    await stream.scan("test.push.>", () => assert.fail("nothing is newer"), 2);
    second.resolve();
  } finally {
    await connection.close();
    await server.stop();
  }
}

async function withNodes(
  directory: string,
  body: (nodes: Awaited<ReturnType<typeof openNodes>>) => Promise<void>,
): Promise<void> {
  const server = await startNats(directory);
  const nodes = await openNodes(server.url);
  try {
    await body(nodes);
  } finally {
    await nodes.close();
    await server.stop();
  }
}

export const cases: readonly Case[] = [
  {
    name: "what is stored is read also through a server that lags behind the leader [nats-lag]",
    run: (_runtime, directory) => pageBehind(directory),
  },
  {
    name:
      "an answer that another node stored first, from the question's receipt, is still reported by the one that took it [nats-lag]",
    run: (_runtime, directory) => withNodes(directory, answerCompletedFirst),
  },
  {
    name:
      "a push that was announced before the leader has it is found, and a removed one is not waited for [nats-lag]",
    run: (_runtime, directory) => withNodes(directory, findLagging),
  },
];
