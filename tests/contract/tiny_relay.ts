/** A minimal relay that a test breaks in every way a network can: handshake, silence, restart. */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { encodeFrame, type Frame, parseFrame } from "../../src/protocol/frames.ts";
import { problem } from "../../src/protocol/errors.ts";
import { SUBPROTOCOL } from "../../src/protocol/limits.ts";

/** welcoming: behaves like a relay; refusing: answers 401 to every key; deaf: never answers a handshake. */
export type Manner = "welcoming" | "refusing" | "deaf";

export class TinyRelay {
  manner: Manner = "welcoming";
  readonly frames: Frame[] = [];
  readonly protocols: string[] = [];
  readonly bytes: Uint8Array[] = [];
  /** The largest number of simultaneous connections. */
  mostAtOnce = 0;
  readonly #server: Server;
  readonly #sockets: WebSocketServer;
  readonly #raw = new Set<Duplex>();

  private constructor(server: Server, sockets: WebSocketServer) {
    this.#server = server;
    this.#sockets = sockets;
    server.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head));
    server.on("connection", (socket: Duplex) => {
      this.#raw.add(socket);
      socket.on("close", () => this.#raw.delete(socket));
    });
    sockets.on("connection", (socket) => this.#connected(socket));
  }

  static async start(port = 0): Promise<TinyRelay> {
    const relay: { it?: TinyRelay } = {};
    const server = createServer((_request, response) => {
      const refused = relay.it?.manner === "refusing" && _request.url !== "/healthz";
      const body = refused ? problem("unauthenticated") : { status: "ok", version: "0", pushes: [] };
      response.writeHead(refused ? 401 : 200, { "content-type": "application/json", connection: "close" });
      response.end(JSON.stringify(body));
    });
    const handleProtocols = (): string => SUBPROTOCOL;
    relay.it = new TinyRelay(server, new WebSocketServer({ noServer: true, handleProtocols }));
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    return relay.it;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get wsUrl(): string {
    return `ws://127.0.0.1:${this.port}/ws`;
  }

  get connections(): number {
    return this.#sockets.clients.size;
  }

  send(data: string | Uint8Array): void {
    for (const socket of this.#sockets.clients) socket.send(data);
  }

  /** True if some connections are no longer read, so that their end is not noticed. */
  isFrozen = false;

  /** Stops reading and answering existing connections, which stay open. */
  freeze(): void {
    this.isFrozen = true;
    for (const socket of this.#raw) socket.pause();
  }

  /** Closes every connection with `code` (or cuts it when that is 0) and stops listening. */
  async stop(code = 0): Promise<void> {
    const stopped = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets.clients) code === 0 ? socket.terminate() : socket.close(code);
    if (code === 0) { for (const socket of this.#raw) socket.destroy(); }
    await stopped;
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Uint8Array): void {
    if (this.manner === "deaf") return;
    if (this.manner === "refusing") {
      return void socket.end("HTTP/1.1 401 Unauthorized\r\nconnection: close\r\n\r\n");
    }
    this.protocols.push(...(request.headers["sec-websocket-protocol"] ?? "").split(/, ?/));
    this.#sockets.handleUpgrade(request, socket, Buffer.from(head), (open) => {
      this.#sockets.emit("connection", open, request);
    });
  }

  #connected(socket: WebSocket): void {
    this.mostAtOnce = Math.max(this.mostAtOnce, this.connections);
    socket.on("message", (data: Uint8Array, isBinary) => {
      if (isBinary) return void this.bytes.push(new Uint8Array(data));
      const frame = parseFrame(new TextDecoder().decode(data));
      if (!("fault" in frame)) this.#answer(socket, frame);
    });
  }

  #answer(socket: WebSocket, frame: Frame): void {
    this.frames.push(frame);
    if (frame.event === "ping") socket.send(encodeFrame("pong", {}));
    if (frame.event !== "hello") return;
    const data = { relayVersion: "0", protocolVersion: 1, deviceId: "dev_a", now: Date.now(), limits: {} };
    socket.send(encodeFrame("welcome", data));
  }
}
