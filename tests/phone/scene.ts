/** A relay with the page, a network link that can break, a phone, and a scripted listener, started and stopped together. */
import { buildPhone } from "../../scripts/build_phone.ts";
import type { Scope } from "../../src/protocol/http.ts";
import { type RunningRelay, startRelay } from "../../src/relay/server.ts";
import { newKey } from "../helpers/new_key.ts";
import { CHECKOUT } from "../helpers/sources.ts";
import { Phone } from "./phone.ts";
import { ScriptedListener } from "./scripted_listener.ts";
import { Wire } from "./wire.ts";

export const PAGE_DIRECTORY = `${CHECKOUT}dist/phone`;

export interface Scene {
  relay: RunningRelay;
  wire: Wire;
  phone: Phone;
  listener: ScriptedListener;
  /** Another key of the same account. */
  makeKey(...scopes: Scope[]): Promise<string>;
  /** Restarts the relay with the same data and port. */
  restartRelay(): Promise<void>;
}

export async function withScene(act: (scene: Scene) => Promise<void>): Promise<void> {
  await buildPhone({ outDir: PAGE_DIRECTORY });
  const dataDir = await Deno.makeTempDir({ prefix: "svc-phone-relay-" });
  const makeKey = (...scopes: Scope[]): Promise<string> => newKey(dataDir, scopes);
  const ends: (() => unknown)[] = [() => Deno.remove(dataDir, { recursive: true })];
  try {
    const start = (port: number): Promise<RunningRelay> =>
      startRelay({ listen: `127.0.0.1:${port}`, dataDir, phoneDirectory: PAGE_DIRECTORY });
    let relay = await start(0);
    ends.push(() => relay.stop());
    const wire = new Wire(relay.port);
    ends.push(() => wire.close());
    const listener = new ScriptedListener({ wsUrl: relay.wsUrl, apiKey: await makeKey("push:read") });
    ends.push(() => listener.stop());
    const phone = await Phone.start(wire.url);
    ends.push(() => phone.close());
    const restartRelay = async (): Promise<void> => {
      await relay.stop();
      relay = await start(relay.port);
    };
    await act({ relay, wire, phone, listener, makeKey, restartRelay });
  } finally {
    for (const end of ends.reverse()) await end();
  }
}
