/**
 * Messages between relay nodes: every node that has clients of an account receives that account's messages. With it the
 * bus of a relay that is a single process.
 */

/** The recipients of a frame: one listener, one device, every phone and script of the account, or every device. */
export type Audience = { listener: string } | { device: string } | { phones: true } | { everyone: true };

export type BusMessage =
  /** An encoded control frame for these clients. `push` identifies the push that a listener must acknowledge. */
  | { kind: "frame"; to: Audience; text: string; push?: { id: string; seq: number } }
  /** A listener's connection was greeted: older connections of the same device close. */
  | { kind: "greeted"; deviceId: string; connection: string };

export interface Bus {
  /** Does not wait. Also reaches this node's own subscribers. */
  publish(account: string, message: BusMessage): void;
  /** Returns the unsubscribe function. */
  subscribe(account: string, handler: (message: BusMessage) => void): () => void;
  /** Calls `handler` after messages of other nodes may have been lost. Returns the unsubscribe function. */
  watchGaps(handler: () => void): () => void;
  /** Resolves when other nodes can be reached. */
  ready(): Promise<void>;
  close(): Promise<void>;
}

type Handler = (message: BusMessage) => void;

export class LocalBus implements Bus {
  readonly #handlers = new Map<string, Set<Handler>>();

  publish(account: string, message: BusMessage): void {
    for (const handler of [...this.#handlers.get(account) ?? []]) handler(message);
  }

  subscribe(account: string, handler: Handler): () => void {
    const handlers = this.#handlers.get(account) ?? new Set();
    this.#handlers.set(account, handlers.add(handler));
    return () => {
      handlers.delete(handler);
      if (handlers.size === 0 && this.#handlers.get(account) === handlers) this.#handlers.delete(account);
    };
  }

  /** Loses nothing. */
  watchGaps(): () => void {
    return () => undefined;
  }

  ready(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.#handlers.clear();
    return Promise.resolve();
  }
}
