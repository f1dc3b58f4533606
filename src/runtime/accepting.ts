/** Keeps a server accepting: Deno stops for good once the process has run out of file descriptors. */
import type { Server } from "node:net";

/** How often the server is made to listen again, in milliseconds. */
const AGAIN_MS = 1_000;
const BACKLOG = 511;

/** Makes the server listen again and again until it closes. Node recovers by itself. */
export function keepAccepting(server: Server): void {
  if (!("Deno" in globalThis)) return;
  const timer = setInterval(() => listenAgain(server), AGAIN_MS);
  server.once("close", () => clearInterval(timer));
}

/** Listens again on the same socket; this changes nothing while the server accepts. */
function listenAgain(server: Server): void {
  const handle: unknown = Reflect.get(server, "_handle");
  if (typeof handle !== "object" || handle === null || !("listen" in handle)) return;
  if (typeof handle.listen === "function") handle.listen(BACKLOG);
}
