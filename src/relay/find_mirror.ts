/** Which listener's connection a phone means when it asks for a mirror. */
import type { EventData } from "../protocol/frames.ts";
import type { Store } from "../store/store.ts";
import type { Connection } from "./connection.ts";
import type { Hub } from "./hub.ts";

/** The connection, or the reason of the `pane.closed` that answers. */
export async function findMirror(
  { store, hub }: { store: Store; hub: Hub },
  { account, open }: { account: string; open: EventData<"pane.open"> },
): Promise<Connection | string> {
  const named = open.deviceId === undefined
    ? await store.devicesWithSession(account, open.agentSessionName)
    : [open.deviceId];
  if (named.length > 1) return "ambiguous_session";
  const [deviceId] = named;
  if (deviceId === undefined) return "no_such_session";
  return hub.listener(account, deviceId) ?? "listener_offline";
}
