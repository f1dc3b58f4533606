/** NATS nodes and servers that briefly disagree: nothing is missed or treated as removed in the meantime. */
import assert from "node:assert/strict";
import { jetstream, jetstreamManager, type StoredMsg, type StreamInfo } from "@nats-io/jetstream";
import type { Receipt } from "../../src/protocol/receipt.ts";
import { connectNats } from "../../src/runtime/nats.ts";
import { natsContext } from "../../src/store/nats_context.ts";
import { natsKeys } from "../../src/store/nats_keys.ts";
import { Nodes, Presences } from "../../src/store/nats_presences.ts";
import { natsPushes } from "../../src/store/nats_pushes.ts";
import type { Consuming } from "../../src/store/nats_following.ts";
import { NatsStream } from "../../src/store/nats_streams.ts";
import type { NewPush, StoredPush } from "../../src/store/store.ts";
import { startNats } from "../helpers/nats_server.ts";
import type { Case } from "../helpers/on_node.ts";
import { until } from "../helpers/until.ts";
import { aKey, aPush, idsOf, NOW, uuid } from "./store_samples.ts";

/** Stands in for lagging servers: their answers end with the message `upTo`, while followers receive everything. */
class LaggingStream extends NatsStream {
  upTo = Infinity;
  /** The limit for reads of messages, which a former leader answers while the new one answers the rest. */
  readsUpTo = Infinity;
  /** How often a message was requested. */
  asked = 0;

  override lossAfterMs = 60_000;

  protected override async message(...args: Parameters<NatsStream["message"]>): Promise<StoredMsg | null> {
    this.asked += 1;
    const message = await super.message(...args);
    return message !== null && message.seq <= Math.min(this.upTo, this.readsUpTo) ? message : null;
  }

  protected override async info(filter?: string): Promise<StreamInfo> {
    const { state, ...others } = await super.info(filter);
    const isBehind = state.last_seq > this.upTo;
    return { ...others, state: isBehind ? { ...state, last_seq: this.upTo, subjects: {} } : state };
  }
}

/** A stream with consumers on a lagging server: they yield nothing until it catches up. */
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

/** A stream whose writes can be delayed. */
class WaitingStream extends NatsStream {
  before: () => Promise<unknown> = () => Promise.resolve();

  override async put(...args: Parameters<NatsStream["put"]>): Promise<number | undefined> {
    await this.before();
    return await super.put(...args);
  }
}

/**
 * Opens two nodes on one server; the first one's writes of pushes can wait, and the leaders that the second one asks
 * lag.
 */
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
  const ofState = new LaggingStream(handles, optionsOf("state"));
  const [one, other] = [streams, { ...streams, pushes: leader, state: ofState }].map((of, n) => {
    const context = natsContext(of, { prefix: "test", node: `node-${n}`, maxBytes: () => 1_048_576 });
    const nodes = new Nodes(context);
    const options = { prefix: "test", presences: new Presences(context, nodes), now: () => nodes.now() };
    return { ...natsPushes(context, options), ...natsKeys(context) };
  });
  assert.ok(one !== undefined && other !== undefined);
  const close = async (): Promise<void> => {
    for (const node of [one, other]) node.stop();
    await connection.close();
  };
  return { one, other, writes: streams.pushes, leader, ofState, close };
}

type LaggingNodes = Awaited<ReturnType<typeof openNodes>>;

/** Stores a push on one node, and waits until the other has received it. */
async function storeAnnounced({ one, other }: LaggingNodes, n: number): Promise<void> {
  const heard = Promise.withResolvers<void>();
  const stop = other.watchPushes?.(({ seq }) => seq > n - 1 && heard.resolve());
  await other.openPushes({ account: "a", id: "dev_l" }, { afterSeq: 0, limit: 9 });
  await one.insertPush(aPush(n));
  await heard.promise;
  stop?.();
}

/** Runs `work` while servers lag, until they have been asked several times, and then lets them catch up. */
async function whileBehind<T>(
  { leader }: { leader: LaggingStream },
  behind: { upTo?: number; readsUpTo?: number },
  work: () => Promise<T>,
): Promise<T> {
  Object.assign(leader, behind);
  const asked = leader.asked;
  const working = work();
  await Promise.race([working, until("the leader is asked again", () => leader.asked >= asked + 3)]);
  Object.assign(leader, { upTo: Infinity, readsUpTo: Infinity });
  return await working;
}

async function findLagging(nodes: LaggingNodes): Promise<void> {
  const { one, other } = nodes;
  const open = () => other.openPushes({ account: "a", id: "dev_l" }, { afterSeq: 0, limit: 9 });
  assert.deepEqual(await open(), []);
  await storeAnnounced(nodes, 1);
  assert.deepEqual(idsOf(await whileBehind(nodes, { upTo: 0 }, open)), [uuid(1)]);
  await storeAnnounced(nodes, 2);
  assert.deepEqual(idsOf(await whileBehind(nodes, { readsUpTo: 1 }, open)), [uuid(1), uuid(2)]);
  assert.equal(await one.removePushes({ madeBefore: Number.MAX_SAFE_INTEGER, expiredBefore: 0 }), 2);
  assert.deepEqual(await open(), []);
}

/** A push that a former leader lacks must not be treated as unknown: its receipt would be lost. */
async function changeLagging(nodes: LaggingNodes): Promise<void> {
  const { other } = nodes;
  const [first, second] = [1, 2].map((n) => ({ account: "a", id: uuid(n) }));
  assert.ok(first !== undefined && second !== undefined);
  const typed: Receipt = { state: "typed", final: true, at: {} };
  await storeAnnounced(nodes, 1);
  const change = () => other.changeReceipt(first, () => typed);
  assert.equal((await whileBehind(nodes, { readsUpTo: 0 }, change))?.changed, true);
  await storeAnnounced(nodes, 2);
  const found = await whileBehind(nodes, { readsUpTo: 1 }, () => other.findPush(second));
  assert.equal(found?.push.id, second.id);
}

/** A node that has stored something reads it, or something newer, even from a former leader. */
async function readOwn({ leader }: LaggingNodes): Promise<void> {
  const subject = "test.push.a.own";
  const seq = await leader.put(subject, "new");
  const found = await whileBehind({ leader }, { readsUpTo: 0 }, () => leader.get(subject));
  assert.deepEqual(found, { subject, seq, text: "new" });
}

/** A node that has received a revocation must announce it, even while a former leader still shows the key as valid. */
async function revokeLagging({ one, other, ofState }: LaggingNodes): Promise<void> {
  await one.insertKey(aKey(1));
  const heard = Promise.withResolvers<unknown>();
  const stop = other.watchRevocations(heard.resolve);
  assert.equal((await other.findKeyById("key_1"))?.id, "key_1");
  const revoked = await whileBehind({ leader: ofState }, { readsUpTo: await ofState.lastSeq() }, async () => {
    await one.revokeKey("key_1", NOW);
    return await heard.promise;
  });
  assert.deepEqual(revoked, { kind: "key", account: "a", id: "key_1" });
  stop();
}

/** The newest messages are lost, as after a power failure of all servers. */
async function goOnAfterLoss(nodes: LaggingNodes): Promise<void> {
  const { other, leader } = nodes;
  await storeAnnounced(nodes, 1);
  leader.lossAfterMs = 100;
  leader.upTo = 0;
  const name = { account: "a", id: uuid(1) };
  assert.equal(await other.findPush(name), undefined);
  const asked = leader.asked;
  assert.equal(await other.findPush({ ...name, id: uuid(2) }), undefined);
  assert.equal(leader.asked, asked + 1, "nothing is waited for again");
}

/**
 * The other node stores the answer from the question's receipt before the node that closed the question has done so.
 */
async function answerCompletedFirst({ one, other, writes }: LaggingNodes) {
  const { push } = aPush(2);
  const answer = aPush(2, { push: { ...push, createdAt: Date.now() } });
  const name = { account: answer.account, id: push.id };
  await one.insertPush(aPush(1));
  assert.equal((await other.duePushes({ now: Number.MAX_SAFE_INTEGER, limit: 9 })).length, 1, "it follows");
  writes.before = () => until("the answer", () => other.findPush(name));
  const close = ({ receipt }: StoredPush): Receipt => ({ ...receipt, state: "answered", final: true });
  const outcome = await one.insertAnswer(answer, { id: uuid(1), close });
  assert.equal(outcome.kind, "stored");
}

/** A node caches the order of pushes, and drops those that another node has removed. */
async function pageAfterRemoval({ one, other, leader }: LaggingNodes): Promise<void> {
  const expired: Receipt = { state: "expired", final: true, at: {} };
  const store = async (from: number, to: number, fields: Partial<NewPush & { expiresAt: number }> = {}) => {
    for (let n = from; n <= to; n++) await one.insertPush(aPush(n, fields));
  };
  const { push } = aPush(0);
  for (let n = 1; n <= 60; n++) {
    await one.insertPush(aPush(n, { push: { ...push, id: uuid(n), createdAt: NOW - 10 } }));
  }
  await store(61, 61);
  await store(62, 121, { receipt: expired, expiresAt: NOW + 10 });
  await store(122, 125);
  const page = async () => {
    const before = leader.asked;
    const found = await other.pagePushes({ account: "a", limit: 5, bytes: 1_000_000 });
    return { ids: idsOf(found?.pushes), asked: leader.asked - before };
  };
  await page();
  assert.equal(await one.removePushes({ madeBefore: NOW, expiredBefore: NOW + 20 }), 120);
  const left = [61, 122, 123, 124, 125].map(uuid);
  const first = await page();
  assert.deepEqual(first.ids, left);
  assert.ok(first.asked < 80, `those before the first that is left are not read: ${first.asked} messages`);
  const second = await page();
  assert.deepEqual(second.ids, left);
  assert.ok(second.asked <= 7, `of five pushes, the oldest and newer ones, no removed one: ${second.asked}`);
}

/** A page contains everything stored before it was requested, wherever its consumer is. */
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
  body: (nodes: LaggingNodes) => Promise<void>,
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
    name: "stored messages are read even through a server that lags behind the leader [nats-lag]",
    run: (_runtime, directory) => pageBehind(directory),
  },
  {
    name:
      "an answer that another node stored first, from the question's receipt, is still reported by the node that accepted it [nats-lag]",
    run: (_runtime, directory) => withNodes(directory, answerCompletedFirst),
  },
  {
    name:
      "a push announced before the leader has it is found, and a removed one is not waited for [nats-lag]",
    run: (_runtime, directory) => withNodes(directory, findLagging),
  },
  {
    name: "the receipt of a push that a former leader lacks is stored, and the push is found [nats-lag]",
    run: (_runtime, directory) => withNodes(directory, changeLagging),
  },
  {
    name: "a node reads what it has stored, even if a former leader lacks it [nats-lag]",
    run: (_runtime, directory) => withNodes(directory, readOwn),
  },
  {
    name: "a revocation is announced although a former leader does not have it [nats-lag]",
    run: (_runtime, directory) => withNodes(directory, revokeLagging),
  },
  {
    name: "a page of the history does not read a push again that was found removed [http-history]",
    run: (_runtime, directory) => withNodes(directory, pageAfterRemoval),
  },
  {
    name: "a node continues with what NATS has when the newest messages are lost [nats-lag]",
    run: (_runtime, directory) => withNodes(directory, goOnAfterLoss),
  },
];
