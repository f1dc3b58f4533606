/** A process of `bench:nodes idle`: connects idle listeners, prints how many, and lets them report until its stdin ends. */
import { INVENTORY_HEARTBEAT_MS } from "../../src/protocol/limits.ts";
import { say } from "../../scripts/say.ts";
import { Peer } from "../../tests/contract/relay_peer.ts";
import { sessionNamed } from "../../tests/unit/relay/fixture.ts";

export interface IdleListeners {
  /** `host:port` of each node; the listeners take turns. */
  hosts: readonly string[];
  /** One key for each account. */
  keys: readonly string[];
  perKey: number;
}

export const deviceOf = (n: number): string => `dev_listener_${n.toString(16).padStart(8, "0")}`;

/** The sessions that each listener reports every time. */
const SESSIONS = ["svc-a", "svc-b", "svc-c"].map(sessionNamed);

function report(peer: Peer, sequence = 1): void {
  if (peer.closed !== undefined) return;
  peer.send("listener.sessions", { sequence, sessions: SESSIONS });
  setTimeout(() => report(peer, sequence + 1), INVENTORY_HEARTBEAT_MS);
}

async function connectAll({ hosts, keys, perKey }: IdleListeners): Promise<number> {
  let connected = 0;
  for (const key of keys) {
    await Promise.all(Array.from({ length: perKey }, async (_, n) => {
      const host = hosts[n % hosts.length] ?? "";
      const peer = await Peer.greeted(`ws://${host}/ws`, {
        key,
        hello: { role: "listener", deviceId: deviceOf(n) },
      });
      // Spreads the reports of one account's hosts over the interval.
      setTimeout(() => report(peer), Math.random() * INVENTORY_HEARTBEAT_MS);
      connected++;
    }));
  }
  return connected;
}

if (import.meta.main) {
  const wanted = JSON.parse(Deno.args[0] ?? "{}") as IdleListeners;
  say(JSON.stringify({ connected: await connectAll(wanted) }));
  for await (const _ of Deno.stdin.readable);
  Deno.exit(0);
}
