/** What a node does about others: mirrors to a dead node end, and a listener that has moved is disconnected. */
import assert from "node:assert/strict";
import { type Bus, type BusMessage, LocalBus, type NodeMessage } from "../../../src/bus/bus.ts";
import { CLOSE } from "../../../src/protocol/errors.ts";
import { encodeFrame, parseFrame } from "../../../src/protocol/frames.ts";
import type { PhonePeer } from "../../../src/relay/connection.ts";
import { closeGaps } from "../../../src/relay/gaps.ts";
import { RemotePhones } from "../../../src/relay/remote_phones.ts";
import { HTTP_REQUESTS_BURST, HTTP_REQUESTS_PER_SECOND } from "../../../src/protocol/limits.ts";
import { makeBudgets, reportBudgets, shareBudgets } from "../../../src/relay/budgets.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";
import { type FakeClient, Fixture } from "./fixture.ts";

const HOST = "dev_listener_0a1b2c3d";

type Handler = (message: NodeMessage & { from: string }) => void;

/** Makes a listener's node, lists of what it ends and sends, and `opens`: another node's phone opens a mirror there. */
function listenersNode(isNodeAlive: (node: string) => boolean = () => true) {
  let handler: Handler = () => undefined;
  const [ended, sent]: [string[], string[]] = [[], []];
  const bus: Bus = Object.assign(new LocalBus(), {
    receive(given: Handler) {
      handler = given;
      return () => undefined;
    },
    send(node: string, message: NodeMessage) {
      sent.push(`${node}: ${"text" in message ? parseFrame(message.text ?? "").event : message.kind}`);
    },
  });
  const mirrors = {
    open: () => Promise.resolve(),
    closed: () => undefined,
    forward: () => undefined,
    bytes: () => undefined,
    endAllOf: ({ id }: { id: string }) => void ended.push(id),
  };
  const store = {
    nodeOf: () => Promise.resolve(undefined),
    isNodeAlive: (node: string) => Promise.resolve(isNodeAlive(node)),
  };
  const remote = new RemotePhones({ bus, store });
  remote.start(mirrors);
  const opens = (from: string, stream: number): void => {
    const text = encodeFrame("pane.open", { stream, agentSessionName: "svc-x" } as never);
    const phone = { keyId: "key_1", scopes: [], deviceId: `dev_${from}` };
    handler({ kind: "fromPhone", account: "a", connection: `c-${from}`, phone, text, from });
  };
  return { remote, mirrors, ended, sent, opens };
}

Deno.test("the mirrors of phones on a node that died are ended [nodes-presence]", async () => {
  const dead = new Set<string>();
  const { remote, mirrors, ended, opens } = listenersNode((node) => !dead.has(node));
  for (const from of ["one", "two"]) opens(from, 1);
  await remote.endLost(mirrors);
  assert.deepEqual(ended, []);
  dead.add("one");
  await remote.endLost(mirrors);
  await remote.endLost(mirrors);
  assert.deepEqual(ended, ["c-one"]);
});

Deno.test("after a gap all mirrors of other nodes' phones end, because a phone's disconnection may have been missed [nodes-presence]", () => {
  const { remote, mirrors, ended, sent, opens } = listenersNode();
  for (const stream of [1, 2]) opens("other", stream);
  remote.endAfterGap(mirrors);
  remote.endAfterGap(mirrors);
  assert.deepEqual([ended, sent], [["c-other"], ["other: pane.closed", "other: pane.closed"]]);
});

Deno.test("when another node was cut off, the mirrors of its phones end, because a disconnection may have been missed [nodes-presence]", () => {
  const { remote, mirrors, ended, sent, opens } = listenersNode();
  for (const from of ["one", "two"]) opens(from, 1);
  remote.endAfterGap(mirrors, "one");
  assert.deepEqual([ended, sent], [["c-one"], ["one: pane.closed"]]);
});

Deno.test("clients reconnect at once after a gap of their node, and once after gaps of other nodes [nodes-presence]", async () => {
  await using relay = await Fixture.make();
  let report: (node: string) => void = () => undefined;
  Object.assign(relay.bus, {
    node: "here",
    watchGaps(handler: typeof report) {
      report = handler;
      return () => undefined;
    },
  });
  const stop = closeGaps(relay.services);
  const key = await relay.key();
  const closedWith = ({ socket }: FakeClient): number | undefined => socket.closedWith?.code;
  const first = await relay.connect(key);
  for (const node of ["one", "two"]) report(node);
  assert.equal(closedWith(first), undefined, "more of them may come");
  relay.clock.advance(2_000);
  assert.equal(closedWith(first), CLOSE.SERVICE_RESTART);
  const second = await relay.connect(key);
  report("here");
  assert.equal(closedWith(second), CLOSE.SERVICE_RESTART);
  const third = await relay.connect(key);
  for (const node of ["one", "two"]) report(node);
  relay.clock.advance(29_000);
  assert.equal(closedWith(third), undefined, "a node with a bad line must not keep everybody reconnecting");
  relay.clock.advance(1_000);
  assert.equal(closedWith(third), CLOSE.SERVICE_RESTART);
  stop();
});

Deno.test("a node drops another's phone when its last mirror ends, and is notified when its connection ends [nodes-presence]", async () => {
  const handlers = new Map<string, Handler>();
  const sent: string[] = [];
  const asked: string[] = [];
  const store = {
    nodeOf: () => Promise.resolve("two"),
    isNodeAlive: (node: string) => Promise.resolve(asked.push(node) > 0),
  };
  const opened: PhonePeer[] = [];
  const mirrors = {
    open: (phone: PhonePeer) => Promise.resolve(void opened.push(phone)),
    closed: () => undefined,
    forward: () => undefined,
    bytes: () => undefined,
    endAllOf: () => undefined,
  };
  const [one, two] = ["one", "two"].map((node) => {
    const bus: Bus = Object.assign(new LocalBus(), {
      node,
      send(to: string, message: NodeMessage) {
        sent.push(message.kind);
        handlers.get(to)?.({ ...message, from: node });
      },
      receive(handler: Handler) {
        handlers.set(node, handler);
        return () => undefined;
      },
    });
    const remote = new RemotePhones({ bus, store });
    remote.start(mirrors);
    return remote;
  });
  assert.ok(one !== undefined && two !== undefined);
  /** Resolves with true if the second node still has the phone. */
  const isKept = async (): Promise<boolean> => {
    asked.length = 0;
    await two.endLost(mirrors);
    return asked.length > 0;
  };
  const phone = { id: "c-1", account: "a", key: { id: "key_1", scopes: [] }, send: () => undefined } as never;
  const route = { node: "two", listener: { account: "a", id: HOST } };
  const open = (stream: number) => one.open(phone, { stream, agentSessionName: "svc-x" } as never, route);
  const close = { stream: 1, reason: "left" };
  open(1);
  open(2);
  assert.ok(one.end(phone, close));
  assert.equal(await isKept(), true, "one mirror is open");
  opened[1]?.sendFrame("pane.closed", { stream: 2, reason: "session_gone" });
  assert.equal(await isKept(), false);
  handlers.get("two")?.({
    kind: "fromPhone",
    connection: "c-1",
    account: "a",
    from: "one",
    phone: { keyId: "key_1", scopes: [], deviceId: "" },
    text: encodeFrame("pane.closed", close),
  });
  assert.equal(await isKept(), false, "a late frame keeps nothing");
  one.gone(phone);
  assert.equal(sent.filter((kind) => kind === "phoneGone").length, 1);
  one.gone(phone);
  assert.equal(sent.filter((kind) => kind === "phoneGone").length, 1, "no second message");
});

Deno.test("what a key uses on one node is deducted on the others, and an excess is owed [nodes-limits]", () => {
  const clock = new FakeClock();
  const handlers = new Set<(message: BusMessage) => void>();
  const nodes = ["one", "two", "three"].map((node) => {
    const bus: Bus = Object.assign(new LocalBus(), {
      node,
      publish: (_account: string, message: BusMessage) => {
        for (const handler of handlers) handler(message);
      },
      subscribe(_account: string, handler: (message: BusMessage) => void) {
        handlers.add(handler);
        return () => void handlers.delete(handler);
      },
    });
    const services = { bus, clock, budgets: makeBudgets({ shared: true }) };
    shareBudgets(services);
    const take = (amount: number): number => services.budgets.requests.take("key", clock.elapsed(), amount);
    return { take, report: () => reportBudgets(services) };
  });
  const [one, two, three] = nodes;
  assert.equal(one?.take(HTTP_REQUESTS_BURST), 0);
  assert.equal(two?.take(HTTP_REQUESTS_BURST), 0, "a full bucket of each node until the first report");
  for (const { report } of nodes) report();
  const owed = 2 * HTTP_REQUESTS_BURST - HTTP_REQUESTS_BURST;
  for (const node of [one, two, three]) {
    assert.equal(node?.take(1), Math.ceil((owed + 1) / HTTP_REQUESTS_PER_SECOND));
  }
  clock.advance(1_000 * (2 * HTTP_REQUESTS_BURST) / HTTP_REQUESTS_PER_SECOND);
  assert.equal(three?.take(HTTP_REQUESTS_BURST), 0, "what was owed has been earned");
});

Deno.test("after a gap a listener that has connected to another node is closed here; others stay [nodes-presence]", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key(["push:read", "push:send"], { role: "listener", deviceId: HOST });
  const listener = await relay.connect(key, { role: "listener", deviceId: HOST });
  const { hub } = relay.services;
  await hub.closeMoved(() => Promise.resolve(false));
  assert.equal(hub.listener("default", HOST)?.isOpen, true);
  await hub.closeMoved(({ id }) => Promise.resolve(id === HOST));
  assert.equal(hub.listener("default", HOST), undefined);
  assert.equal(listener.socket.closedWith?.code, CLOSE.SERVICE_RESTART);
});
