/** The page without a browser, over a fake relay and storage in memory. */
import { Controller } from "../../../src/phone/controller.ts";
import type { PairingStorage } from "../../../src/phone/pairing_storage.ts";
import { createStore, type PhoneState } from "../../../src/phone/state.ts";
import type { Account } from "../../../src/phone/storage.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";
import { until } from "../../helpers/until.ts";
import { FakeSockets } from "../client/fake_socket.ts";
import { FakeRelay } from "./fake_relay.ts";
import { FakeStorage } from "./fake_storage.ts";
import { NOW } from "./samples.ts";

export const TO = { deviceId: "dev_listener_1", session: "svc-demo" };

/** Makes a phone; `changed` is called with every state, as the page's views are. */
export function phoneWith(
  account?: Account,
  changed: (state: PhoneState) => void = () => {},
  { pairing }: { pairing?: PairingStorage } = {},
) {
  const clock = new FakeClock(NOW);
  const sockets = new FakeSockets();
  const relay = new FakeRelay();
  const storage = new FakeStorage(account);
  const store = createStore(changed);
  const controller = new Controller({
    baseUrl: "https://relay.example/svc/",
    name: "iPhone",
    version: "0.1.0",
    store,
    storage,
    pairing,
    clock,
    random: () => 0.5,
    fetch: relay.fetch,
    createSocket: sockets.create,
  });
  return { clock, sockets, relay, storage, store, controller };
}

export type Bench = ReturnType<typeof phoneWith>;

/** Signs in, and waits until the page is welcomed and up to date. */
export async function live(bench: Bench): Promise<Bench> {
  await bench.controller.start();
  bench.sockets.last.welcome(NOW);
  await until("the history", () => bench.store.get().history !== "unread");
  return bench;
}

/** Opens the same phone's page as after a reload, with another relay. */
export function reloaded({ storage }: Bench): Bench {
  const next = phoneWith(storage.account);
  for (const [id, entry] of storage.outbox) next.storage.outbox.set(id, entry);
  for (const [key, text] of storage.drafts) next.storage.drafts.set(key, text);
  return next;
}

export function stateOf({ store }: Bench, id: string): string | undefined {
  const progress = store.get().messages.get(id)?.progress;
  return progress?.kind === "taken" ? progress.receipt.state : progress?.kind;
}
