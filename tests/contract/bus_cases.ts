/** The bus's contract over the local bus and over NATS: one set of cases. */
import assert from "node:assert/strict";
import { appendFile } from "node:fs/promises";
import { type Bus, type BusMessage, LocalBus } from "../../src/bus/bus.ts";
import { openNatsBus } from "../../src/bus/nats.ts";
import { BINARY_FRAME_MAX_BYTES } from "../../src/protocol/limits.ts";
import { FaultProxy } from "../helpers/fault_proxy.ts";
import { type NatsServer, startNats } from "../helpers/nats_server.ts";
import type { Case } from "../helpers/on_node.ts";
import { until } from "../helpers/until.ts";

const message = (deviceId: string): BusMessage => ({ kind: "greeted", deviceId, connection: "c" });

/** Collects what an account's subscriber receives until `stop`. */
function hear(bus: Bus, account: string): { heard: string[]; stop: () => void } {
  const heard: string[] = [];
  const stop = bus.subscribe(account, (found) => {
    if (found.kind === "greeted") heard.push(found.deviceId);
  });
  return { heard, stop };
}

type Body = (bus: Bus) => Promise<void>;

const BODIES: Record<string, Body> = {
  "a message immediately reaches every subscriber here, until it unsubscribes [rl-accounts]": async (bus) => {
    const [one, two, other] = [hear(bus, "a"), hear(bus, "a"), hear(bus, "b")];
    bus.publish("a", message("x"));
    assert.deepEqual([one.heard, two.heard, other.heard], [["x"], ["x"], []]);
    one.stop();
    one.stop();
    bus.publish("a", message("y"));
    bus.publish("none", message("z"));
    assert.deepEqual([one.heard, two.heard, other.heard], [["x"], ["x", "y"], []]);
    await bus.ready();
    assert.deepEqual(two.heard, ["x", "y"], "its own messages do not come back");
  },
  "a subscriber may unsubscribe while it handles a message": (bus) => {
    let heard = 0;
    const stop = bus.subscribe("a", () => {
      heard += 1;
      stop();
    });
    bus.subscribe("a", () => void (heard += 1));
    bus.publish("a", message("x"));
    bus.publish("a", message("x"));
    assert.equal(heard, 3);
    return Promise.resolve();
  },
  "a closed bus delivers nothing": async (bus) => {
    const { heard } = hear(bus, "a");
    await bus.close();
    bus.publish("a", message("late"));
    assert.deepEqual(heard, []);
  },
};

/** An account name with the characters that have a meaning in a subject. */
const ODD = "a.*.>";

async function withNats(directory: string, body: (server: NatsServer) => Promise<void>): Promise<void> {
  const server = await startNats(directory);
  try {
    await body(server);
  } finally {
    await server.stop();
  }
}

const openNode = ({ url }: NatsServer, prefix = "test") =>
  openNatsBus({ servers: [url], prefix }, { node: crypto.randomUUID() });

const NODES: Record<string, (server: NatsServer, directory: string) => Promise<void>> = {
  "messages reach the subscribers on other nodes, in order, by account and prefix": async (server) => {
    const buses = await Promise.all([
      openNode(server),
      openNode(server),
      openNode(server, "other"),
    ]);
    const [one, two, stranger] = buses;
    const [odd, plain, foreign] = [hear(two, ODD), hear(two, "a"), hear(stranger, ODD)];
    await Promise.all(buses.map((bus) => bus.ready()));
    for (let n = 0; n < 50; n++) one.publish(ODD, message(`${n}`));
    one.publish("a", message("last"));
    await until("the last message", () => plain.heard.length > 0);
    assert.deepEqual(odd.heard, Array.from({ length: 50 }, (_, n) => `${n}`));
    odd.stop();
    await two.ready();
    one.publish(ODD, message("late"));
    one.publish("a", message("end"));
    await until("the end", () => plain.heard.length > 1);
    assert.equal(odd.heard.length, 50);
    assert.deepEqual(foreign.heard, []);
    for (const bus of buses) await bus.close();
  },
  "the largest binary frame passes between two nodes, in order [nats-frames]": async (server) => {
    const [one, two] = await Promise.all([openNode(server), openNode(server)]);
    const heard: (number | string)[] = [];
    const stop = two.receive((found) => {
      heard.push(found.bytes?.length ?? found.connection);
      if (found.bytes !== undefined) assert.ok(found.bytes.every((byte, n) => byte === n % 251));
    });
    await two.ready();
    const bytes = Uint8Array.from({ length: BINARY_FRAME_MAX_BYTES }, (_, n) => n % 251);
    one.send(two.node, { kind: "phoneGone", connection: "before" });
    one.send(two.node, { kind: "toPhone", connection: "c", bytes });
    one.send(two.node, { kind: "phoneGone", connection: "after" });
    await until("the last message", () => heard.length > 2);
    assert.deepEqual(heard, ["before", BINARY_FRAME_MAX_BYTES, "after"]);
    stop();
    await one.close();
    await two.close();
  },
  "a node is not ready on a server that was reconfigured with a shorter max_payload [nats-payload]": async (
    server,
    directory,
  ) => {
    const bus = await openNode(server);
    await bus.ready();
    await appendFile(`${directory}/nats.conf`, "\nmax_payload: 65536\n");
    await server.restart();
    await until("the fault", async () => {
      const fault = await bus.ready().then(() => undefined, (error: Error) => error.message);
      return fault?.startsWith("Cannot use NATS: it takes messages of up to 65536 bytes");
    });
    await bus.close();
  },
  "when one node was cut off, the others are notified of its gap too [nodes-presence]": async (server) => {
    await using link = await FaultProxy.start(server.url);
    const one = await openNode({ ...server, url: `nats://${link.host}` });
    const two = await openNode(server);
    const gaps = { one: new Set<string>(), two: new Set<string>() };
    one.watchGaps((node) => void gaps.one.add(node));
    two.watchGaps((node) => void gaps.two.add(node));
    await Promise.all([one.ready(), two.ready()]);
    link.cut();
    await until("a gap", () => gaps.two.size > 0);
    await one.ready();
    assert.deepEqual([[...gaps.one], [...gaps.two]], [[one.node], [one.node]]);
    await one.close();
    await two.close();
  },
  "after its server was gone, a node is notified of a gap, and messages pass again": async (server) => {
    const [one, two] = await Promise.all([openNode(server), openNode(server)]);
    let gaps = 0;
    const stop = two.watchGaps((node) => gaps += Number(node === two.node));
    const { heard } = hear(two, "a");
    await server.restart();
    await until("a gap", () => gaps > 0);
    await until("messages pass", async () => {
      // It is not ready until it has reconnected too.
      await one.ready().catch(() => undefined);
      one.publish("a", message("x"));
      return heard.length > 0;
    });
    stop();
    await one.close();
    await two.close();
  },
};

export const cases: readonly Case[] = [
  ...Object.entries(BODIES).flatMap(([name, body]): Case[] => [
    { name: `local: ${name}`, run: () => run(new LocalBus(), body) },
    {
      name: `NATS: ${name}`,
      run: (_runtime, directory) =>
        withNats(directory, async (server) => await run(await openNode(server), body)),
    },
  ]),
  ...Object.entries(NODES).map(([name, body]): Case => ({
    name,
    run: (_runtime, directory) => withNats(directory, (server) => body(server, directory)),
  })),
];

async function run(bus: Bus, body: Body): Promise<void> {
  try {
    await body(bus);
  } finally {
    await bus.close();
  }
}
