/** Keeps a server accepting: Deno accepts nothing any more once the process had no file left for a connection, also when it has some again. */
import type { Server } from "node:net";

/** How often the server is made to listen again, in milliseconds. */
const AGAIN_MS = 1_000;
const BACKLOG = 511;

/** Until the server closes. Node goes on by itself. */
export function keepAccepting(server: Server): void {
  if (!("Deno" in globalThis)) return;
  const timer = setInterval(() => listenAgain(server), AGAIN_MS);
  server.once("close", () => clearInterval(timer));
}

/** On the same socket: while it accepts, this changes nothing. */
function listenAgain(server: Server): void {
  const handle: unknown = Reflect.get(server, "_handle");
  if (typeof handle !== "object" || handle === null || !("listen" in handle)) return;
  if (typeof handle.listen === "function") handle.listen(BACKLOG);
}
