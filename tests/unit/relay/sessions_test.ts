/** Inventories of many listeners are limited per key, and a device whose connection has closed goes offline. */
import assert from "node:assert/strict";
import { createRelayApi } from "../../../src/client/api.ts";
import {
  INVENTORIES_PER_KEY_MAX_BYTES,
  INVENTORY_HEARTBEAT_MS,
  PAGE_BYTES_BURST,
} from "../../../src/protocol/limits.ts";
import { createKey } from "../../../src/relay/api_keys.ts";
import { startRelay } from "../../../src/relay/server.ts";
import { repeatDepartures } from "../../../src/relay/sessions.ts";
import { openDatabase } from "../../../src/runtime/sqlite.ts";
import { openStore } from "../../../src/store/sqlite.ts";
import { type DeviceRecord, StoreUnavailable } from "../../../src/store/store.ts";
import { Peer } from "../../contract/relay_peer.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";
import { until } from "../../helpers/until.ts";
import { type FakeClient, Fixture, sessionNamed } from "./fixture.ts";

const REPORT_BYTES = 200_000;

async function report(client: FakeClient, title: string): Promise<void> {
  await client.send("listener.sessions", { sequence: 1, sessions: [{ ...sessionNamed("svc-p"), title }] });
}

Deno.test("the inventories of a key's listeners are bounded together, and another key can still report [flood-inventories]", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key(["push:read"]);
  const fit = Math.floor(INVENTORIES_PER_KEY_MAX_BYTES / (REPORT_BYTES + 1_000));
  const clients: FakeClient[] = [];
  for (let n = 0; n < fit + 2; n++) {
    relay.clock.advance(2_000);
    const client = await relay.connect(key, { role: "listener", deviceId: `dev_listener_${n}` });
    await report(client, "x".repeat(REPORT_BYTES));
    clients.push(client);
  }
  const stored = clients.filter((client) => client.received("listener.stored").length > 0);
  assert.equal(stored.length, fit);
  const { data } = clients.at(-1)?.received("listener.rejected")[0] ?? {};
  assert.deepEqual(data, { reason: "over_budget" });
  relay.clock.advance(2_000);
  await report(clients[0]!, "shorter");
  assert.equal(clients[0]?.received("listener.stored").length, 2);
  const other = await relay.listener();
  await report(other, "x".repeat(REPORT_BYTES));
  assert.equal(other.received("listener.stored").length, 1);
});

Deno.test("a report reads the inventory of its own listener only", async () => {
  await using relay = await Fixture.make();
  const listener = await relay.listener();
  const phone = await relay.connect(await relay.key());
  relay.services.store.listInventories = () => assert.fail("a report read every inventory");
  await report(listener, "t");
  assert.equal(phone.received("sessions.changed").at(-1)?.data.sessions[0]?.title, "t");
});

Deno.test("an unchanged report sends no byte to a phone, and is still acknowledged and stored as the newest [inv-heartbeat-quiet]", async () => {
  await using relay = await Fixture.make();
  const listener = await relay.listener();
  const key = await relay.key();
  const phone = await relay.connect(key);
  const seen = () => phone.received("sessions.changed").map(({ data }) => data.sessions[0]?.title);
  const begun = seen().length;
  await report(listener, "t");
  const frames = phone.socket.sent.length;
  relay.clock.advance(INVENTORY_HEARTBEAT_MS);
  await report(listener, "t");
  assert.equal(phone.socket.sent.length, frames);
  assert.equal(listener.received("listener.stored").length, 2);
  const { devices } = await (await relay.request("GET", "/sessions", { key })).json();
  assert.equal(devices[0].lastSeen, relay.clock.now());
  await report(listener, "other");
  await report(listener, "t");
  assert.deepEqual(seen().slice(begun), ["t", "other", "t"]);
});

Deno.test("if each write is a message to other servers, an unchanged report is stored again only after a while [nats-unchanged]", async () => {
  await using relay = await Fixture.make();
  const { store } = relay.services;
  const { saveInventory } = store;
  const stored: string[] = [];
  relay.services.store = {
    ...store,
    unchangedForMs: 10 * INVENTORY_HEARTBEAT_MS,
    saveInventory(inventory) {
      stored.push(`${inventory.sessions[0]?.title}`);
      return saveInventory(inventory);
    },
  };
  const listener = await relay.listener();
  const heartbeats = async (title: string): Promise<void> => {
    for (let n = 0; n < 10; n++) {
      await report(listener, title);
      relay.clock.advance(INVENTORY_HEARTBEAT_MS);
    }
  };
  await heartbeats("one");
  assert.deepEqual(stored, ["one"]);
  await heartbeats("one");
  assert.deepEqual(stored, ["one", "one"]);
  await report(listener, "two");
  await report(listener, "one");
  assert.deepEqual(stored.splice(0), ["one", "one", "two", "one"]);
  const details = { plain: { at: 1 } };
  await listener.send("listener.sessions", {
    sequence: 1,
    details,
    sessions: [{ ...sessionNamed("svc-p"), title: "one" }],
  });
  await report(listener, "one");
  assert.deepEqual(stored, ["one"], "details are stored");
});

Deno.test("a report that was not stored, or is not yet, is stored when it comes again [nats-unchanged]", async () => {
  await using relay = await Fixture.make();
  const { store } = relay.services;
  const { saveInventory } = store;
  let calls = 0;
  let save = (): Promise<void> => Promise.reject(new StoreUnavailable("full"));
  relay.services.store = {
    ...store,
    unchangedForMs: 10 * INVENTORY_HEARTBEAT_MS,
    async saveInventory(inventory) {
      calls += 1;
      await save();
      await saveInventory(inventory);
    },
  };
  const listener = await relay.listener();
  await report(listener, "t");
  await report(listener, "t");
  assert.equal(calls, 2, "the first was refused");
  save = () => Promise.resolve();
  await report(listener, "t");
  const other = Promise.withResolvers<void>();
  save = () => other.promise;
  const reports = [report(listener, "other"), report(listener, "t")];
  other.resolve();
  await Promise.all(reports);
  assert.equal(calls, 5, "another report was on its way");
});

Deno.test("reports are stored in order even if the store answers the first one last; only the newest waiting one is stored, with the details of all [inv-order]", async () => {
  await using relay = await Fixture.make();
  const { store } = relay.services;
  const asked = Promise.withResolvers<void>();
  const slow = Promise.withResolvers<void>();
  let reads = 0;
  relay.services.store = {
    ...store,
    async inventoryBytes(keyId, device) {
      asked.resolve();
      // As in NATS while a leader is elected, when each call is repeated by itself.
      if (++reads === 1) await slow.promise;
      return await store.inventoryBytes(keyId, device);
    },
  };
  const listener = await relay.listener();
  const key = await relay.key();
  const phone = await relay.connect(key);
  const sent = [report(listener, "first")];
  await asked.promise;
  const details = { plain: { at: 1, start: { agents: ["cc"], projects: [] } } };
  const second = { ...sessionNamed("svc-p"), title: "second" };
  sent.push(listener.send("listener.sessions", { sequence: 2, sessions: [second], details }));
  sent.push(report(listener, "third"));
  slow.resolve();
  await Promise.all(sent);
  const answer = await (await relay.request("GET", "/sessions", { key })).json();
  assert.deepEqual([answer.devices[0].sessions[0].title, answer.devices[0].details], ["third", details]);
  assert.equal(phone.received("sessions.changed").at(-1)?.data.sessions[0]?.title, "third");
  assert.deepEqual([reads, listener.received("listener.stored").length], [2, 3]);
});

Deno.test("a listener that connects again shows phones its sessions again, changed or not [inv-heartbeat-quiet]", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key(["push:read"]);
  const phone = await relay.connect(await relay.key());
  for (let connection = 1; connection <= 2; connection++) {
    await report(await relay.connect(key, { role: "listener", deviceId: "dev_listener_0a1b2c3d" }), "t");
    const last = phone.received("sessions.changed").at(-1)?.data;
    assert.deepEqual([last?.online, last?.sessions[0]?.title], [true, "t"]);
    phone.socket.sent.length = 0;
  }
});

Deno.test("reading sessions is limited in bytes per key, as pages are [flood-pages]", async () => {
  await using relay = await Fixture.make();
  await report(await relay.listener(), "x".repeat(REPORT_BYTES));
  const key = await relay.key();
  let read = 0;
  let refused: Response | undefined;
  for (let n = 0; n < 100 && refused === undefined; n++) {
    const answer = await relay.request("GET", "/sessions", { key });
    if (answer.ok) read += (await answer.text()).length;
    else refused = answer;
  }
  assert.ok(read < PAGE_BYTES_BURST + 2 * REPORT_BYTES, `${read} bytes`);
  assert.deepEqual([refused?.status, refused?.headers.has("retry-after")], [429, true]);
});

Deno.test("the inventory of a revoked device is not kept [http-revoke]", async () => {
  await using relay = await Fixture.make();
  await report(await relay.listener(), "t");
  const { store, clock } = relay.services;
  const device = { account: "default", id: "dev_listener_0a1b2c3d" };
  await store.revokeDevice(device, clock.now());
  assert.deepEqual(await store.listInventories("default"), []);
});

Deno.test("phones get a host's details when they change, and when they ask [det-report]", async () => {
  await using relay = await Fixture.make();
  const listener = await relay.listener();
  const key = await relay.key();
  const phone = await relay.connect(key);
  const details = { plain: { at: 1, start: { agents: ["cc"], projects: [] } } };
  await listener.send("listener.sessions", { sequence: 1, sessions: [], details });
  await report(listener, "t");
  const changes = phone.received("sessions.changed").slice(-2).map(({ data }) => data.details);
  assert.deepEqual(changes, [details, undefined]);
  const answer = await (await relay.request("GET", "/sessions", { key })).json();
  assert.deepEqual(answer.devices[0].details, details);
});

const LISTENER = "dev_listener_0a1b2c3d";

const stored = ({ services }: Fixture): Promise<DeviceRecord | undefined> =>
  services.store.findDevice({ account: "default", id: LISTENER });

/** Makes the store refuse writes of who is online until the returned function is called. */
function breakStore({ services: { store } }: Fixture): () => void {
  const { setOnline } = store;
  store.setOnline = () => Promise.reject(new StoreUnavailable("the disk is full"));
  return () => void (store.setOnline = setOnline);
}

Deno.test("a host that disconnects while the store cannot be written goes offline later, as of the time of its disconnection [fault-disk]", async () => {
  await using relay = await Fixture.make();
  const phone = await relay.connect(await relay.key());
  const listener = await relay.listener(LISTENER);
  relay.clock.advance(1_000);
  const left = relay.clock.now();
  const mend = breakStore(relay);
  listener.leave();
  await relay.settle();
  const failures = relay.logged.length;
  relay.clock.advance(1_000);
  await repeatDepartures(relay.services);
  assert.deepEqual(
    [(await stored(relay))?.online, relay.logged.length],
    [true, failures],
    "one line says it",
  );
  mend();
  await repeatDepartures(relay.services);
  const { online, lastSeen } = await stored(relay) ?? {};
  assert.deepEqual([online, lastSeen], [false, left]);
  assert.deepEqual(phone.received("sessions.changed").map(({ data }) => data.online), [true, false]);
  await repeatDepartures(relay.services);
  assert.equal(phone.received("sessions.changed").length, 2, "nothing is repeated that was done");
});

Deno.test("a host that has reconnected stays online, whatever failed when it disconnected", async () => {
  await using relay = await Fixture.make();
  const mend = breakStore(relay);
  (await relay.listener(LISTENER)).leave();
  await relay.settle();
  await relay.listener(LISTENER);
  mend();
  await repeatDepartures(relay.services);
  assert.equal((await stored(relay))?.online, true);
});

Deno.test("if several hosts disconnected, those after a failure are repeated too", async () => {
  await using relay = await Fixture.make();
  const ids = ["dev_listener_1", "dev_listener_2", "dev_listener_3"];
  const listeners = [];
  for (const id of ids) listeners.push(await relay.listener(id));
  const mend = breakStore(relay);
  for (const listener of listeners) listener.leave();
  await relay.settle();
  await repeatDepartures(relay.services);
  mend();
  await repeatDepartures(relay.services);
  const devices = await relay.services.store.listDevices("default");
  assert.deepEqual(devices.map(({ online }) => online), [false, false, false]);
});

Deno.test("a running relay repeats the write by itself", async () => {
  const directory = await Deno.makeTempDir({ prefix: "svc-departures-" });
  const dataDir = `${directory}/data`;
  const clock = new FakeClock();
  const logged: string[] = [];
  const log = (line: string): void => void logged.push(line);
  const relay = await startRelay({ listen: "127.0.0.1:0", dataDir, clock, log });
  try {
    const store = await openStore(dataDir);
    const { key } = await createKey(store, { name: "k", scopes: ["push:read"] });
    await store.close();
    const listener = await Peer.listener(relay.wsUrl, key, LISTENER);
    const other = await openDatabase(`${dataDir}/relay.db`, { busyMs: 10_000 });
    try {
      other.exec("BEGIN IMMEDIATE");
      await listener.leave();
      await until("the failure", () => logged.some((line) => line.includes("locked")));
    } finally {
      other.close();
    }
    const api = createRelayApi({ baseUrl: relay.url, apiKey: key });
    await until("the host to be offline", async () => {
      clock.advance(1_000);
      return (await api.devices()).devices.every(({ online }) => !online);
    });
  } finally {
    await relay.stop();
    await Deno.remove(directory, { recursive: true });
  }
});
