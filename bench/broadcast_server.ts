/** The alternative to a mirror watched by many phones: a `ws` server that sends the same bytes to every connection. */
import { WebSocketServer } from "ws";
import { say } from "../scripts/say.ts";

/** Bytes of a message, and messages per second. */
const [size, rate] = Deno.args.map(Number) as [number, number];
const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
const message = crypto.getRandomValues(new Uint8Array(size));
const begun = performance.now();
let sent = 0;

/** A timer may be late, so all messages that are due are sent at once. */
setInterval(() => {
  for (const due = (performance.now() - begun) * rate / 1_000; sent < due; sent++) {
    for (const socket of server.clients) socket.send(message);
  }
}, 1_000 / rate);

server.on("listening", () => {
  const address = server.address();
  if (typeof address === "object" && address !== null) say(`listening on ws://127.0.0.1:${address.port}/`);
});
