/** The connections that are no WebSocket: their number is bounded, so that strangers cannot shut others out. */

import type { Socket } from "node:net";

/** Requests that one connection may have in hand; who pipelines more, or reads none of the answers, is dropped. */
export const PIPELINED_MAX = 32;

interface Entry {
  socket: Socket;
  /** Requests in hand. */
  requests: number;
  /** When a request came to an idle connection, or one was answered last. */
  since: number;
}

export interface PlainLimits {
  connections: number;
  /** A connection that has requests in hand and answers none for so long does not read, in milliseconds. */
  stuckMs: number;
  /** Milliseconds that never go back. */
  elapsed: () => number;
}

export class PlainConnections {
  /** In the order of their last use; by peer, because a TLS socket hides the one below it. */
  readonly #entries = new Map<string, Entry>();
  readonly #limits: PlainLimits;

  constructor(limits: PlainLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Over the limit the one idle longest is dropped, else one that is stuck, else this one. */
  add(socket: Socket): void {
    if (this.#entries.size >= this.#limits.connections && !this.#dropOne()) {
      socket.destroy();
      return;
    }
    const peer = peerOf(socket);
    const entry = { socket, requests: 0, since: 0 };
    this.#entries.set(peer, entry);
    socket.once("close", () => {
      if (this.#entries.get(peer) === entry) this.#entries.delete(peer);
    });
  }

  /** The connection became a WebSocket, whose owner counts it. */
  remove(socket: Socket): void {
    this.#entries.delete(peerOf(socket));
  }

  /** A request is in hand; returns how to tell that it is answered, or undefined when nobody will read the answer. */
  busy(socket: Socket): (() => void) | undefined {
    const peer = peerOf(socket);
    const entry = this.#entries.get(peer);
    if (entry === undefined || entry.requests >= PIPELINED_MAX) {
      socket.destroy();
      return undefined;
    }
    if (entry.requests === 0) entry.since = this.#limits.elapsed();
    entry.requests += 1;
    return () => {
      entry.requests -= 1;
      entry.since = this.#limits.elapsed();
      // Last in the order: the most recently used.
      if (this.#entries.delete(peer)) this.#entries.set(peer, entry);
    };
  }

  #dropOne(): boolean {
    const stuckSince = this.#limits.elapsed() - this.#limits.stuckMs;
    return this.#drop(({ requests }) => requests === 0) || this.#drop(({ since }) => since < stuckSince);
  }

  #drop(isDroppable: (entry: Entry) => boolean): boolean {
    for (const [peer, entry] of this.#entries) {
      if (!isDroppable(entry)) continue;
      this.#entries.delete(peer);
      entry.socket.destroy();
      return true;
    }
    return false;
  }
}

function peerOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`;
}
