/** A process of `bench:nodes idle`: connects idle listeners, prints how many, and keeps them until its stdin ends. */
import { say } from "../../scripts/say.ts";
import { Peer } from "../../tests/contract/relay_peer.ts";

export interface IdleListeners {
  /** `host:port` of each node; the listeners take turns. */
  hosts: readonly string[];
  /** A key for each account. */
  keys: readonly string[];
  perKey: number;
}

export const deviceOf = (n: number): string => `dev_listener_${n.toString(16).padStart(8, "0")}`;

async function connectAll({ hosts, keys, perKey }: IdleListeners): Promise<number> {
  let connected = 0;
  for (const key of keys) {
    await Promise.all(Array.from({ length: perKey }, async (_, n) => {
      const host = hosts[n % hosts.length] ?? "";
      await Peer.greeted(`ws://${host}/ws`, { key, hello: { role: "listener", deviceId: deviceOf(n) } });
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
