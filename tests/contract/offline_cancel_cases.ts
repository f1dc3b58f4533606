/** Cancelling a message to a host that is offline: one body over the relay on SQLite and on NATS. */
import assert from "node:assert/strict";
import { createKey } from "../../src/relay/api_keys.ts";
import { type RunningRelay, startRelay } from "../../src/relay/server.ts";
import { openNatsStore } from "../../src/store/nats.ts";
import { openStore } from "../../src/store/sqlite.ts";
import type { Store } from "../../src/store/store.ts";
import { startNats } from "../helpers/nats_server.ts";
import type { Case } from "../helpers/on_node.ts";
import { until } from "../helpers/until.ts";
import { ask, Peer } from "./relay_peer.ts";
import { uuid } from "./store_samples.ts";

const LISTENER = "dev_listener_0a1b2c3d";
const [MESSAGE, CANCEL] = [uuid(1), uuid(2)];

interface Stage {
  relay: RunningRelay;
  /** Another relay on the same store; the same relay if a store allows only one. */
  other: RunningRelay;
  key: string;
}

async function post({ relay }: Stage, key: string, body: Record<string, unknown>): Promise<void> {
  const to = { targetDeviceId: LISTENER, agentSessionName: "svc-p" };
  const { status, json } = await ask(relay.url, {
    method: "POST",
    path: "/pushes/send",
    key,
    body: { ...to, ...body },
  });
  assert.equal(status, 202, JSON.stringify(json));
}

const send = (stage: Stage, id = MESSAGE) =>
  post(stage, stage.key, { type: "agent.command", id, body: "text" });

const cancel = (stage: Stage) =>
  post(stage, stage.key, { type: "agent.cancel", id: CANCEL, inReplyTo: MESSAGE });

async function stateOf({ relay, key }: Stage, id = MESSAGE): Promise<unknown> {
  const { json } = await ask(relay.url, { path: `/pushes/${id}`, key });
  return (json["receipt"] as { state: string }).state;
}

/** Disconnects, and returns once the relay shows the host as offline. */
async function leave({ relay, key }: Stage, listener: Peer): Promise<void> {
  await listener.leave();
  await until("the host is offline", async () => {
    const { json } = await ask(relay.url, { path: "/devices", key });
    return (json["devices"] as { id: string; online: boolean }[]).some(({ id, online }) =>
      id === LISTENER && !online
    );
  });
}

const idsOf = (peer: Peer): string[] => peer.received("push.new").map(({ data }) => data.id);

const BODIES: Record<string, (stage: Stage) => Promise<void>> = {
  "a message stored while the host was offline is cancelled at once, and never sent [cancel-queued]": async (
    stage,
  ) => {
    await leave(stage, await Peer.listener(stage.relay.wsUrl, stage.key));
    await send(stage);
    const phone = await Peer.greeted(stage.other.wsUrl, { key: stage.key, hello: {} });
    await cancel(stage);
    assert.equal(await stateOf(stage), "withdrawn");
    assert.equal((await phone.first("push.updated")).receipt.state, "withdrawn");
    await send(stage, uuid(3));
    const listener = await Peer.listener(stage.other.wsUrl, stage.key);
    await until("both", () => idsOf(listener).length >= 2);
    assert.deepEqual(idsOf(listener), [CANCEL, uuid(3)]);
    await Promise.all([listener.leave(), phone.leave()]);
  },
  "the host decides on a message sent before it went offline, and gets the cancellation first [cancel-atomic]":
    async (stage) => {
      const first = await Peer.listener(stage.relay.wsUrl, stage.key);
      await send(stage);
      await first.first("push.new");
      await leave(stage, first);
      await cancel(stage);
      assert.equal(await stateOf(stage), "queued");
      const listener = await Peer.listener(stage.other.wsUrl, stage.key);
      await until("both", () => idsOf(listener).length >= 2);
      assert.deepEqual(idsOf(listener), [CANCEL, MESSAGE]);
      await listener.leave();
    },
  "a message cancelled while its host connects is either withdrawn or sent, never both [cancel-atomic]":
    async (
      stage,
    ) => {
      await leave(stage, await Peer.listener(stage.relay.wsUrl, stage.key));
      await send(stage);
      const [listener] = await Promise.all([Peer.listener(stage.other.wsUrl, stage.key), cancel(stage)]);
      await until("the cancellation", () => idsOf(listener).includes(CANCEL));
      await send(stage, uuid(3));
      await until("the next message", () => idsOf(listener).includes(uuid(3)));
      assert.equal(await stateOf(stage), idsOf(listener).includes(MESSAGE) ? "queued" : "withdrawn");
      await listener.leave();
    },
};

async function withStage(
  { open, start }: { open(): Promise<Store>; start(): Promise<readonly [RunningRelay, RunningRelay]> },
  body: (stage: Stage) => Promise<void>,
): Promise<void> {
  const [relay, other] = await start();
  try {
    const store = await open();
    const { key } = await createKey(store, { name: "k", scopes: ["push:send", "push:read"] });
    await store.close();
    await body({ relay, other, key });
  } finally {
    await relay.stop();
    await other.stop();
  }
}

async function onSqlite(directory: string, body: (stage: Stage) => Promise<void>): Promise<void> {
  const dataDir = `${directory}/data`;
  await withStage({
    open: () => openStore(dataDir),
    async start() {
      const relay = await startRelay({ listen: "127.0.0.1:0", dataDir });
      return [relay, relay];
    },
  }, body);
}

async function onNats(directory: string, body: (stage: Stage) => Promise<void>): Promise<void> {
  const server = await startNats(directory);
  const nats = { servers: [server.url], prefix: "test" };
  const one = () => startRelay({ listen: "127.0.0.1:0", dataDir: directory, nats });
  try {
    await withStage({
      open: () => openNatsStore(nats),
      start: async () => [await one(), await one()],
    }, body);
  } finally {
    await server.stop();
  }
}

export const cases: readonly Case[] = Object.entries({ SQLite: onSqlite, NATS: onNats }).flatMap((
  [store, on],
) =>
  Object.entries(BODIES).map(([name, body]): Case => ({
    name: `${store}: ${name}`,
    run: (_runtime, directory) => on(directory, body),
  }))
);
