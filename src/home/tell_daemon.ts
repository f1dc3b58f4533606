/** Tells the daemon something and does not wait for its answer: hooks hold up their agents. Loads no schema. */
import type { LocalSockets } from "../runtime/types.ts";
import type { ControlRequest } from "./control_messages.ts";

/** False when nobody listens, or the line could not be given away. */
export async function tellDaemon(
  door: { sockets: Pick<LocalSockets, "connect">; path: string },
  request: ControlRequest,
): Promise<boolean> {
  try {
    const connection = await door.sockets.connect(door.path);
    if (connection === undefined) return false;
    await connection.send(JSON.stringify(request));
    connection.close();
    return true;
  } catch {
    return false;
  }
}
