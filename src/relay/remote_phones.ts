/** Mirrors whose phone and listener are connected to different nodes: the phone's frames pass to the listener's node and back. */
import type { Bus, NodeMessage, PhoneFacts } from "../bus/bus.ts";
import { encodeFrame, type EventData, type EventName, parseFrame } from "../protocol/frames.ts";
import type { DeviceName, Store } from "../store/store.ts";
import { type Connection, type PhonePeer, UNREAD_MAX_BYTES } from "./connection.ts";
import { BINARY_FRAME_MAX_BYTES } from "../protocol/limits.ts";

/** Unread bytes of a phone above which its mirrors end; below the limit that closes the phone. */
const PHONE_UNREAD_MAX_BYTES = UNREAD_MAX_BYTES - BINARY_FRAME_MAX_BYTES;

type FromNode<K extends NodeMessage["kind"]> = Extract<NodeMessage, { kind: K }> & { from: string };

/** Where a phone's mirror is served. */
interface Route {
  node: string;
  listener: DeviceName;
}

interface PhoneHere {
  connection: Connection;
  /** By the phone's stream number. */
  routes: Map<number, Route>;
  /** The nodes to which the phone's frames were sent, including those where its mirrors have ended. */
  nodes: Set<string>;
}

/** Serves the mirrors of this node's listeners. */
interface Mirrors {
  open(phone: PhonePeer, open: EventData<"pane.open">): Promise<void>;
  closed(from: PhonePeer, closed: EventData<"pane.closed">): void;
  forward<E extends "pane.credit" | "pane.scrollback">(phone: PhonePeer, event: E, data: EventData<E>): void;
  bytes(from: PhonePeer, bytes: Uint8Array): void;
  endAllOf(phone: PhonePeer): void;
}

export class RemotePhones {
  readonly #bus: Bus;
  readonly #store: Pick<Store, "nodeOf" | "isNodeAlive">;
  /** Phones of this node that have opened mirrors on others, by connection id. */
  readonly #here = new Map<string, PhoneHere>();
  /** Phones of other nodes with mirrors here, by connection id. */
  readonly #there = new Map<string, RemotePhone>();

  constructor({ bus, store }: { bus: Bus; store: Pick<Store, "nodeOf" | "isNodeAlive"> }) {
    this.#bus = bus;
    this.#store = store;
  }

  /** Receives what other nodes send. Returns the function that stops it. */
  start(streams: Mirrors): () => void {
    return this.#bus.receive((message) => this.#receive(streams, message));
  }

  /** Asks the listener's node to open a mirror for a phone of this node. */
  open(connection: Connection, open: EventData<"pane.open">, route: Route): void {
    const here = this.#here.get(connection.id) ??
      { connection, routes: new Map<number, Route>(), nodes: new Set<string>() };
    here.routes.set(open.stream, route);
    here.nodes.add(route.node);
    this.#here.set(connection.id, here);
    this.#toListener(connection, { node: route.node, text: encodeFrame("pane.open", open) });
  }

  /** Passes on what a phone of this node sends to a mirror on another; false when it has no such mirror. */
  forward(peer: PhonePeer, stream: number, frame: { text: string } | { bytes: Uint8Array }): boolean {
    const { connection, routes } = this.#here.get(peer.id) ?? {};
    const route = routes?.get(stream);
    if (connection === undefined || route === undefined) return false;
    this.#toListener(connection, { node: route.node, ...frame });
    return true;
  }

  /** Ends a mirror on another node; false when the phone has no such mirror. */
  end(peer: PhonePeer, closed: EventData<"pane.closed">): boolean {
    const text = encodeFrame("pane.closed", closed);
    if (!this.forward(peer, closed.stream, { text })) return false;
    this.#forget(peer, closed.stream);
    return true;
  }

  /** Call this when a connection of this node has closed. */
  gone({ id }: PhonePeer): void {
    const { nodes = [] } = this.#here.get(id) ?? {};
    this.#here.delete(id);
    for (const node of nodes) this.#bus.send(node, { kind: "phoneGone", connection: id });
  }

  /** Ends the mirrors whose other end has disappeared without notice; called every few seconds. */
  async endLost(streams: Mirrors): Promise<void> {
    await this.#endWithoutListener();
    const dead = await this.#deadNodes();
    for (const [id, phone] of [...this.#there]) {
      if (!dead.has(phone.node)) continue;
      this.#there.delete(id);
      streams.endAllOf(phone);
    }
  }

  /**
   * Ends all mirrors of the phones of `node`, or of every node, after messages may have been lost: one of them may have
   * been the end of a phone.
   */
  endAfterGap(streams: Mirrors, node?: string): void {
    const phones = [...this.#there.values()].filter((phone) => node === undefined || phone.node === node);
    for (const phone of phones) {
      for (const stream of [...phone.streams]) {
        phone.sendFrame("pane.closed", { stream, reason: "listener_gone" });
      }
      streams.endAllOf(phone);
    }
  }

  /** Nodes of phones with mirrors here that have died. */
  async #deadNodes(): Promise<Set<string>> {
    const dead = new Set<string>();
    for (const node of new Set([...this.#there.values()].map((phone) => phone.node))) {
      if (!await this.#store.isNodeAlive(node)) dead.add(node);
    }
    return dead;
  }

  /** Ends the mirrors of this node's phones whose listener has left the node that served them. */
  async #endWithoutListener(): Promise<void> {
    for (const { connection, routes } of [...this.#here.values()]) {
      for (const [stream, { node, listener }] of [...routes]) {
        if (await this.#store.nodeOf(listener) === node || routes.get(stream)?.node !== node) continue;
        this.#forget(connection, stream);
        connection.sendFrame("pane.closed", { stream, reason: "listener_gone" });
      }
    }
  }

  #forget({ id }: PhonePeer, stream: number): void {
    this.#here.get(id)?.routes.delete(stream);
  }

  #toListener(
    { id, account, key, greeted }: Connection,
    { node, ...frame }: { node: string; text?: string; bytes?: Uint8Array },
  ): void {
    const phone: PhoneFacts = { keyId: key.id, scopes: key.scopes, deviceId: greeted?.deviceId ?? "" };
    this.#bus.send(node, { kind: "fromPhone", connection: id, account, phone, ...frame });
  }

  #receive(streams: Mirrors, message: NodeMessage & { from: string }): void {
    switch (message.kind) {
      case "fromPhone":
        return this.#fromPhone(streams, message);
      case "toPhone":
        return this.#toPhone(message);
      case "closeForFlood":
        return this.#here.get(message.connection)?.connection.closeForFlood(message.budget);
      case "phoneGone": {
        const phone = this.#there.get(message.connection);
        this.#there.delete(message.connection);
        return phone && streams.endAllOf(phone);
      }
      default:
        message satisfies never;
    }
  }

  #fromPhone(streams: Mirrors, message: FromNode<"fromPhone">): void {
    const { connection, text, bytes } = message;
    // A phone is kept only while it has an open mirror: a frame may arrive after its mirror has ended here.
    const phone: RemotePhone = this.#there.get(connection) ??
      new RemotePhone(message, { bus: this.#bus, ended: (stream) => this.#ended(phone, stream) });
    // A copy, because the stream's number is replaced in place.
    if (bytes !== undefined) return streams.bytes(phone, bytes.slice());
    const frame = parseFrame(text ?? "");
    if ("fault" in frame) return;
    switch (frame.event) {
      case "pane.open":
        return this.#openHere(streams, { phone, open: frame.data });
      case "pane.closed":
        streams.closed(phone, frame.data);
        return this.#ended(phone, frame.data.stream);
      case "pane.credit":
      case "pane.scrollback":
        return streams.forward(phone, frame.event, frame.data);
    }
  }

  #openHere(streams: Mirrors, { phone, open }: { phone: RemotePhone; open: EventData<"pane.open"> }): void {
    phone.streams.add(open.stream);
    this.#there.set(phone.id, phone);
    streams.open(phone, open).catch(() => {
      const closed = { stream: open.stream, reason: "listener_offline" };
      streams.closed(phone, closed);
      phone.sendFrame("pane.closed", closed);
    });
  }

  #ended(phone: RemotePhone, stream: number): void {
    phone.streams.delete(stream);
    if (phone.streams.size === 0 && this.#there.get(phone.id) === phone) this.#there.delete(phone.id);
  }

  #toPhone({ connection: id, text, bytes, ended }: FromNode<"toPhone">): void {
    const here = this.#here.get(id);
    if (here === undefined) return;
    const { connection } = here;
    if (bytes !== undefined && connection.unread > PHONE_UNREAD_MAX_BYTES) {
      return this.#endBehind(here);
    }
    if (text !== undefined) connection.send(text);
    if (bytes !== undefined) connection.send(bytes);
    if (ended !== undefined) this.#forget(connection, ended);
  }

  /** Ends all mirrors of a phone that reads too slowly: the listener's node does not see how much it leaves unread. */
  #endBehind({ connection, routes }: PhoneHere): void {
    for (const stream of routes.keys()) {
      connection.sendFrame("pane.closed", { stream, reason: "phone_behind" });
    }
    this.gone(connection);
  }
}

/** A phone that is connected to another node. */
class RemotePhone implements PhonePeer {
  readonly id: string;
  readonly account: string;
  readonly key: PhonePeer["key"];
  readonly greeted: PhonePeer["greeted"];
  /** Known only to the phone's node, which ends the mirror. */
  readonly unread = 0;
  /** The node that it is connected to. */
  readonly node: string;
  /** The phone's numbers of its mirrors here. */
  readonly streams = new Set<number>();
  readonly #bus: Bus;
  readonly #ended: (stream: number) => void;

  constructor(
    { connection, account, phone, from }: FromNode<"fromPhone">,
    { bus, ended }: { bus: Bus; ended(stream: number): void },
  ) {
    this.#bus = bus;
    this.#ended = ended;
    this.node = from;
    this.id = connection;
    this.account = account;
    this.key = { id: phone.keyId, scopes: phone.scopes };
    this.greeted = { deviceId: phone.deviceId, role: "phone", name: "" };
  }

  send(data: string | Uint8Array): void {
    const frame = typeof data === "string" ? { text: data } : { bytes: data };
    this.#bus.send(this.node, { kind: "toPhone", connection: this.id, ...frame });
  }

  sendFrame<E extends EventName>(event: E, data: EventData<E>): void {
    const text = encodeFrame(event, data);
    const ended = event === "pane.closed" ? (data as EventData<"pane.closed">).stream : undefined;
    const message = { kind: "toPhone", connection: this.id, text } as const;
    this.#bus.send(this.node, ended === undefined ? message : { ...message, ended });
    if (ended !== undefined) this.#ended(ended);
  }

  closeForFlood(budget: string): void {
    this.#bus.send(this.node, { kind: "closeForFlood", connection: this.id, budget });
  }
}
