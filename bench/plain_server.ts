/** The alternative to the relay's connections: a `ws` server that only echoes. */
import { WebSocketServer } from "ws";
import { say } from "../scripts/say.ts";

const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
server.on("connection", (socket) => socket.on("message", (data) => socket.send(data)));
server.on("listening", () => {
  const address = server.address();
  if (typeof address === "object" && address !== null) say(`listening on ws://127.0.0.1:${address.port}/`);
});
