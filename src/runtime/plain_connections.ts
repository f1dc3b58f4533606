/** The connections that are no WebSocket: their number is bounded, so that strangers cannot shut others out. */

import type { Socket } from "node:net";

interface Entry {
  socket: Socket;
  /** Requests in hand. */
  requests: number;
}

export class PlainConnections {
  /** In the order of their last use; by peer, because a TLS socket hides the one below it. */
  readonly #entries = new Map<string, Entry>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Over the limit the one idle longest is dropped, or this one when none is idle. */
  add(socket: Socket): void {
    if (this.#entries.size >= this.#limit && !this.#dropIdle()) {
      socket.destroy();
      return;
    }
    const peer = peerOf(socket);
    const entry = { socket, requests: 0 };
    this.#entries.set(peer, entry);
    socket.once("close", () => {
      if (this.#entries.get(peer) === entry) this.#entries.delete(peer);
    });
  }

  /** The connection became a WebSocket, whose owner counts it. */
  remove(socket: Socket): void {
    this.#entries.delete(peerOf(socket));
  }

  /** A request is in hand; returns how to tell that it is answered. */
  busy(socket: Socket): () => void {
    const peer = peerOf(socket);
    const entry = this.#entries.get(peer);
    if (entry === undefined) return () => undefined;
    entry.requests += 1;
    return () => {
      entry.requests -= 1;
      // Last in the order: the most recently used.
      if (this.#entries.delete(peer)) this.#entries.set(peer, entry);
    };
  }

  #dropIdle(): boolean {
    for (const [peer, { socket, requests }] of this.#entries) {
      if (requests > 0) continue;
      this.#entries.delete(peer);
      socket.destroy();
      return true;
    }
    return false;
  }
}

function peerOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`;
}
