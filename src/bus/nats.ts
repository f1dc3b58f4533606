/** The bus of a relay with several nodes: NATS core subjects, one per account, with delivery at most once. */
import { headers, type NatsConnection, type Subscription } from "@nats-io/transport-node";
import { concatBytes } from "../async/encodings.ts";
import { connectNats, payloadFault, subjectToken } from "../runtime/nats.ts";
import type { NatsAddress } from "../runtime/nats_address.ts";
import { type Bus, type BusMessage, EVERY_NODE, LocalBus, type NodeMessage } from "./bus.ts";

/** Header: a message between two nodes; the body is the binary frame, if there is one. */
const MESSAGE_HEADER = "Svc-Message";
/** Header: the part of a binary frame, as "1/3". NATS limits a message and its headers to 1 MB. */
const PART_HEADER = "Svc-Part";
const PART_BYTES = 524_288;
const NO_BYTES = new Uint8Array();

/** Connects to NATS. Rejects when no server answers. */
export async function openNatsBus(address: NatsAddress, { node }: { node: string }): Promise<Bus> {
  // This node's messages reach its own clients without NATS.
  const connection = await connectNats(address, { name: `${address.prefix} bus`, noEcho: true });
  return new NatsBus(connection, { prefix: address.prefix, node });
}

class NatsBus implements Bus {
  readonly #connection: NatsConnection;
  readonly node: string;
  readonly #prefix: string;
  readonly #local = new LocalBus();
  /** One subscription per account, however many handlers it has. */
  readonly #subscriptions = new Map<string, { subscription: Subscription; users: number }>();
  readonly #gapWatchers = new Set<(node: string) => void>();
  /** While it is false, messages for other nodes are dropped, so that they do not pile up here. */
  #isConnected = true;

  constructor(connection: NatsConnection, { prefix, node }: { prefix: string; node: string }) {
    this.#connection = connection;
    this.#prefix = prefix;
    this.node = node;
    this.subscribe(EVERY_NODE, (message) => {
      if (message.kind === "gap" && message.node !== node) this.#reportGap(message.node);
    });
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

  send(node: string, message: NodeMessage): void {
    if (!this.#isConnected || this.#connection.isClosed()) return;
    const { bytes = NO_BYTES, ...rest } = message;
    const count = Math.max(1, Math.ceil(bytes.length / PART_BYTES));
    for (let part = 1; part <= count; part++) {
      const natsHeaders = headers();
      natsHeaders.set(MESSAGE_HEADER, JSON.stringify({ ...rest, from: this.node }));
      if (count > 1) natsHeaders.set(PART_HEADER, `${part}/${count}`);
      const carried = bytes.subarray((part - 1) * PART_BYTES, part * PART_BYTES);
      this.#connection.publish(`${this.#prefix}.node.${node}`, carried, { headers: natsHeaders });
    }
  }

  receive(handler: (message: NodeMessage & { from: string }) => void): () => void {
    const frames = new PartedFrames();
    const subscription = this.#connection.subscribe(`${this.#prefix}.node.${this.node}`, {
      callback: (error, message) => {
        const text = message?.headers?.get(MESSAGE_HEADER);
        if (error !== null || text === undefined || text === "") return;
        const rest = JSON.parse(text) as NodeMessage & { from: string };
        const bytes = frames.add(rest.from, { part: message.headers?.get(PART_HEADER), bytes: message.data });
        if (bytes === undefined) return;
        handler(bytes.length === 0 ? rest : { ...rest, bytes });
      },
    });
    return () => subscription.unsubscribe();
  }

  watchGaps(handler: (node: string) => void): () => void {
    this.#gapWatchers.add(handler);
    return () => void this.#gapWatchers.delete(handler);
  }

  async ready(): Promise<void> {
    await this.#connection.flush();
    const fault = payloadFault(this.#connection);
    if (fault !== undefined) throw new RangeError(`Cannot use NATS: ${fault}`);
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
      this.#reportGap(this.node);
      // A slow consumer has lost messages from other nodes, not its own.
      if (type === "reconnect") this.publish(EVERY_NODE, { kind: "gap", node: this.node });
    }
  }

  #reportGap(node: string): void {
    for (const watcher of this.#gapWatchers) watcher(node);
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

/** Reassembles frames that another node sent in consecutive parts; a frame with a missing part is dropped. */
class PartedFrames {
  readonly #begun = new Map<string, Uint8Array[]>();

  /** Returns the whole frame when its last part is added, otherwise undefined. */
  add(
    from: string,
    { part = "", bytes }: { part: string | undefined; bytes: Uint8Array },
  ): Uint8Array | undefined {
    const [number = 0, count = 0] = part.split("/").map(Number);
    const before = this.#begun.get(from) ?? [];
    this.#begun.delete(from);
    if (count === 0) return bytes;
    const parts = number === 1 ? [bytes] : [...before, bytes];
    if (parts.length !== number) return undefined;
    if (number === count) return concatBytes(parts);
    this.#begun.set(from, parts);
    return undefined;
  }
}
