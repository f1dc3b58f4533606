/** A device whose connection closes while the store cannot be written goes offline once it can. */
import assert from "node:assert/strict";
import { createRelayApi } from "../../../src/client/api.ts";
import { createKey } from "../../../src/relay/api_keys.ts";
import { repeatDepartures } from "../../../src/relay/departures.ts";
import { startRelay } from "../../../src/relay/server.ts";
import { openDatabase } from "../../../src/runtime/sqlite.ts";
import { openStore } from "../../../src/store/sqlite.ts";
import { type DeviceRecord, StoreUnavailable } from "../../../src/store/store.ts";
import { Peer } from "../../contract/relay_peer.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";
import { until } from "../../helpers/until.ts";
import { Fixture } from "./fixture.ts";

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
