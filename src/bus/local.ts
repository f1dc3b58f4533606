/** The bus of a single-process relay: publishing calls each subscriber. */
import type { Bus, BusMessage } from "./bus.ts";

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

  ready(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.#handlers.clear();
    return Promise.resolve();
  }
}
