/** The clients connected to this node, by account: frames published on the bus reach their sockets here. */
import type { Audience, Bus, BusMessage } from "../bus/bus.ts";
import { CLOSE } from "../protocol/errors.ts";
import { encodeFrame, type EventData, type EventName, ROLES } from "../protocol/frames.ts";
import type { DeviceName, Revocation } from "../store/store.ts";
import type { Connection } from "./connection.ts";
import { counter, Gauge, type RelayMetrics } from "./metrics.ts";

const RESENT = counter(
  "svc_pushes_resent_total",
  "Pushes sent again because no acknowledgement came.",
);
const SILENT = counter("svc_silent_clients_total", "Clients closed because they were silent too long.");

const GAP_REASON = "messages of other relay nodes may have been lost: reconnect";
const RESTART_REASON = "the relay restarts";

interface Publication<E extends EventName> {
  account: string;
  to: Audience;
  event: E;
  data: EventData<E>;
  /** Set for a push, which a listener must acknowledge. */
  push?: { id: string; seq: number };
}

/** Publishes a frame: on every node, `Hub` sends it to the connected clients of the audience. */
export function publishFrame<E extends EventName>(bus: Bus, publication: Publication<E>): void {
  const { account, to, event, data, push } = publication;
  const message: BusMessage = { kind: "frame", to, text: encodeFrame(event, data) };
  bus.publish(account, push === undefined ? message : { ...message, push });
}

interface AccountClients {
  connections: Set<Connection>;
  unsubscribe: () => void;
}

/** A device whose last connection here has closed; `at`: when it closed, epoch milliseconds. */
export interface Departure extends DeviceName {
  at: number;
}

interface HubOptions {
  bus: Bus;
  metrics: RelayMetrics;
  /** Runs work in the background. */
  run(work: Promise<void>): void;
}

export class Hub {
  readonly #options: HubOptions;
  readonly #connections = new Set<Connection>();
  #emptied: (() => void) | undefined;
  #stopping = false;
  readonly #ofKeys = new Map<string, Set<Connection>>();
  readonly #accounts = new Map<string, AccountClients>();
  readonly gauge: Gauge;
  /** Devices that left while the store failed, by `nameKey`, until they are stored as offline. */
  readonly departed = new Map<string, Departure>();

  constructor(options: HubOptions) {
    this.#options = options;
    this.gauge = new Gauge("svc_connections", {
      help: "Open WebSockets by role; none before hello.",
      read: () => [...ROLES, "none"].map((role) => [{ role }, this.#ofRole(role)]),
    });
  }

  get size(): number {
    return this.#connections.size;
  }

  /** A key's open connections on this node. */
  ofKey(keyId: string): Connection[] {
    return [...this.#ofKeys.get(keyId) ?? []];
  }

  add(connection: Connection): void {
    this.#connections.add(connection);
    const { id } = connection.key;
    this.#ofKeys.set(id, (this.#ofKeys.get(id) ?? new Set()).add(connection));
    if (this.#stopping) connection.close(CLOSE.SERVICE_RESTART, RESTART_REASON);
  }

  /** The client is about to be welcomed as this device, which is online from now on. */
  claim(connection: Connection, deviceId: string): void {
    if (!this.#connections.has(connection)) return;
    connection.claimed = deviceId;
    this.#clientsOf(connection.account).connections.add(connection);
  }

  /** False once it has closed. */
  has(connection: Connection): boolean {
    return this.#connections.has(connection);
  }

  /** Closes older connections of the same listener, on every node. */
  replaceOlder({ account, greeted, id }: Connection): void {
    if (greeted?.role !== "listener") return;
    this.#options.bus.publish(account, {
      kind: "greeted",
      deviceId: greeted.deviceId,
      connection: id,
    });
  }

  /** Removes a closed connection. True when its device has no other connection here. */
  remove(connection: Connection): boolean {
    this.#connections.delete(connection);
    this.#forgetOfKey(connection);
    const clients = this.#accounts.get(connection.account);
    clients?.connections.delete(connection);
    if (clients?.connections.size === 0) {
      clients.unsubscribe();
      this.#accounts.delete(connection.account);
    }
    if (this.#connections.size === 0) this.#emptied?.();
    const { account, claimed } = connection;
    return !this.#stopping && claimed !== undefined && !this.isClaimed({ account, id: claimed });
  }

  /** True while a client here is connected as the device, or is about to be welcomed as it. */
  isClaimed({ account, id }: DeviceName): boolean {
    const { connections } = this.#accounts.get(account) ?? {};
    return find(connections, ({ isOpen, claimed }) => isOpen && claimed === id) !== undefined;
  }

  /** The connection of one of the account's listeners, if it is on this node. */
  listener(account: string, deviceId: string): Connection | undefined {
    const { connections } = this.#accounts.get(account) ?? {};
    return find(connections, (one) => isAddressed(one, { listener: deviceId }));
  }

  /** True while the device has an open connection to this node. */
  isConnected({ account, id }: DeviceName): boolean {
    const { connections } = this.#accounts.get(account) ?? {};
    return find(connections, ({ isOpen, greeted }) => isOpen && greeted?.deviceId === id) !== undefined;
  }

  /** Closes the connections of a revoked key or device. */
  revoke(revocation: Revocation): void {
    for (const connection of this.#connections) {
      if (isRevoked(connection, revocation)) {
        connection.close(CLOSE.REVOKED, `the ${revocation.kind} was revoked`);
      }
    }
  }

  /** Pings, closes silent clients and resends pushes; called about once a second. */
  tick(): void {
    const { metrics } = this.#options;
    for (const connection of this.#connections) {
      if (connection.tick() === "silent") metrics.of(SILENT).add();
      const { outbox } = connection;
      if (outbox === undefined || !connection.isOpen) continue;
      const resent = outbox.resendDue();
      if (resent > 0) metrics.of(RESENT).add({}, resent);
      this.fill(connection);
    }
  }

  /** A push to a device was stored, here or by another node. */
  arrived({ account, id, seq }: DeviceName & { seq: number }): void {
    const connection = this.listener(account, id);
    connection?.outbox?.arrived(seq);
    if (connection !== undefined) this.fill(connection);
  }

  /** Closes phones and scripts after a gap in the frames of other nodes: they reconnect and read what they missed. */
  closeAfterGap(): void {
    for (const connection of this.#connections) {
      if (connection.greeted === undefined || connection.outbox !== undefined) continue;
      connection.close(CLOSE.SERVICE_RESTART, GAP_REASON);
    }
  }

  /** Closes listeners that have connected to another node too: the message about that may have been lost. */
  async closeMoved(isElsewhere: (device: DeviceName) => Promise<boolean>): Promise<void> {
    for (const connection of [...this.#connections]) {
      const { account, greeted, outbox } = connection;
      if (outbox === undefined || greeted === undefined) continue;
      if (await isElsewhere({ account, id: greeted.deviceId })) {
        connection.close(CLOSE.SERVICE_RESTART, GAP_REASON);
      }
    }
  }

  /** Sends a listener its stored pushes until its window is full; `tick` tries again when the store fails. */
  fill({ outbox }: Connection): void {
    if (outbox?.wantsMore === true) this.#options.run(outbox.fill());
  }

  /** Closes every connection with "the relay restarts"; resolves when they are gone. */
  stop(): Promise<void> {
    this.#stopping = true;
    const gone = new Promise<void>((resolve) => this.#emptied = resolve);
    if (this.#connections.size === 0) this.#emptied?.();
    for (const connection of this.#connections) connection.close(CLOSE.SERVICE_RESTART, RESTART_REASON);
    return gone;
  }

  terminateAll(): void {
    for (const connection of this.#connections) connection.terminate();
  }

  #forgetOfKey(connection: Connection): void {
    const { id } = connection.key;
    const others = this.#ofKeys.get(id);
    others?.delete(connection);
    if (others?.size === 0) this.#ofKeys.delete(id);
  }

  #clientsOf(account: string): AccountClients {
    const known = this.#accounts.get(account);
    if (known !== undefined) return known;
    const connections = new Set<Connection>();
    const handler = (message: BusMessage): void => receive(connections, message);
    const clients = { connections, unsubscribe: this.#options.bus.subscribe(account, handler) };
    this.#accounts.set(account, clients);
    return clients;
  }

  #ofRole(role: string): number {
    return [...this.#connections].filter(({ greeted }) => (greeted?.role ?? "none") === role).length;
  }
}

/** Searches without copying, because many clients may be connected. */
function find(
  connections: Iterable<Connection> | undefined,
  wanted: (connection: Connection) => boolean,
): Connection | undefined {
  for (const connection of connections ?? []) if (wanted(connection)) return connection;
  return undefined;
}

/** Handles a message from the bus for one account's clients. */
function receive(connections: Iterable<Connection>, message: BusMessage): void {
  switch (message.kind) {
    case "frame":
      for (const connection of connections) {
        if (isAddressed(connection, message.to)) send(connection, message);
      }
      return;
    case "greeted":
      for (const connection of connections) {
        const { id, greeted } = connection;
        if (id === message.connection || greeted?.deviceId !== message.deviceId) continue;
        connection.close(CLOSE.REPLACED, "another connection of this device took over");
      }
      return;
    case "spent":
    case "gap":
      return;
    default:
      message satisfies never;
  }
}

/** A listener gets a push through its outbox, which waits for the acknowledgement. */
function send(connection: Connection, { push, text }: Extract<BusMessage, { kind: "frame" }>): void {
  if (push !== undefined && connection.outbox !== undefined) connection.outbox.offer({ ...push, text });
  else connection.send(text);
}

function isAddressed({ greeted, isOpen }: Connection, to: Audience): boolean {
  if (greeted === undefined || !isOpen) return false;
  if ("everyone" in to) return true;
  if ("phones" in to) return greeted.role !== "listener";
  if ("device" in to) return greeted.deviceId === to.device;
  return greeted.role === "listener" && greeted.deviceId === to.listener;
}

/** True also for a device whose hello is being answered. */
function isRevoked({ account, key, claimed }: Connection, revocation: Revocation): boolean {
  if (account !== revocation.account) return false;
  if (revocation.kind === "key") return key.id === revocation.id;
  return key.deviceId === revocation.id || claimed === revocation.id;
}
