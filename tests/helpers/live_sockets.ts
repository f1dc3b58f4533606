/** Listeners and phones with open sockets, in a separate process, so that the test spends no time on what they receive. */
import { Peer } from "../contract/relay_peer.ts";
import { type OwnProcess, runOwnProcess } from "./own_process.ts";

interface LiveSockets {
  wsUrl: string;
  /** One key for each. */
  listeners: readonly string[];
  phones: readonly string[];
}

/** Opens the sockets; they are open once there is a result, until it is disposed of. */
export const openLiveSockets = (options: LiveSockets): OwnProcess<unknown> =>
  runOwnProcess(import.meta.url, [JSON.stringify(options)]);

if (import.meta.main) {
  const { wsUrl, listeners, phones }: LiveSockets = JSON.parse(Deno.args[0] ?? "");
  await Promise.all([
    ...listeners.map((key, n) => Peer.listener(wsUrl, key, `dev_listener_${String(n).padStart(8, "0")}`)),
    ...phones.map((key) => Peer.greeted(wsUrl, { key, hello: { role: "phone" } })),
  ]);
  await Deno.stdout.write(new TextEncoder().encode("{}\n"));
  for await (const _nothing of Deno.stdin.readable);
  Deno.exit(0);
}
