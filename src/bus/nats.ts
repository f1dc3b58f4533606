/** The bus of a relay of several nodes: core subjects of NATS, one for each account, and at most once. */
import type { NatsConnection, Subscription } from "@nats-io/transport-node";
import { connectNats, type NatsAddress, subjectToken } from "../runtime/nats.ts";
import { type Bus, type BusMessage, LocalBus } from "./bus.ts";

/** Rejects when no server answers. */
export async function openNatsBus(address: NatsAddress): Promise<Bus> {
  // What this node publishes reaches its own clients without NATS.
  const connection = await connectNats(address, { name: `${address.prefix} bus`, noEcho: true });
  return new NatsBus(connection, address.prefix);
}

class NatsBus implements Bus {
  readonly #connection: NatsConnection;
  readonly #prefix: string;
  readonly #local = new LocalBus();
  /** One subscription for each account, however many ask. */
  readonly #subscriptions = new Map<string, { subscription: Subscription; users: number }>();
  readonly #gapWatchers = new Set<() => void>();
  /** While it is false, messages for other nodes are dropped: they must not pile up here. */
  #isConnected = true;

  constructor(connection: NatsConnection, prefix: string) {
    this.#connection = connection;
    this.#prefix = prefix;
    void this.#watchConnection();
  }

  publish(account: string, message: BusMessage): void {
    this.#local.publish(account, message);
    if (!this.#isConnected || this.#connection.isClosed()) return;
    this.#connection.publish(this.#subject(account), JSON.stringify(message));
  }

  subscribe(account: string, handler: (message: BusMessage) => void): () => void {
    const unsubscribe = this.#local.subscribe(account, handler);
    const { subscription, users } = this.#subscriptions.get(account) ??
      { subscription: this.#receive(account), users: 0 };
    this.#subscriptions.set(account, { subscription, users: users + 1 });
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      unsubscribe();
      this.#leave(account);
    };
  }

  watchGaps(handler: () => void): () => void {
    this.#gapWatchers.add(handler);
    return () => void this.#gapWatchers.delete(handler);
  }

  async ready(): Promise<void> {
    await this.#connection.flush();
  }

  async close(): Promise<void> {
    await this.#local.close();
    await this.#connection.close();
  }

  async #watchConnection(): Promise<void> {
    for await (const { type } of this.#connection.status()) {
      if (type === "disconnect") this.#isConnected = false;
      if (type !== "reconnect" && type !== "slowConsumer") continue;
      this.#isConnected = true;
      for (const watcher of this.#gapWatchers) watcher();
    }
  }

  #receive(account: string): Subscription {
    return this.#connection.subscribe(this.#subject(account), {
      callback: (error, message) => {
        if (error === null) this.#local.publish(account, JSON.parse(message.string()) as BusMessage);
      },
    });
  }

  #leave(account: string): void {
    const known = this.#subscriptions.get(account);
    if (known === undefined) return;
    if (known.users > 1) return void this.#subscriptions.set(account, { ...known, users: known.users - 1 });
    this.#subscriptions.delete(account);
    known.subscription.unsubscribe();
  }

  #subject(account: string): string {
    return `${this.#prefix}.bus.${subjectToken(account)}`;
  }
}
