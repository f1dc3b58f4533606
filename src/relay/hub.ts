/** The clients connected to this node, by account: what the bus says reaches their sockets here. */
import type { Audience, Bus, BusMessage } from "../bus/bus.ts";
import { CLOSE } from "../protocol/errors.ts";
import { ROLES } from "../protocol/frames.ts";
import type { Revocation } from "../store/store.ts";
import type { Connection } from "./connection.ts";
import { Gauge, type RelayMetrics } from "./metrics.ts";
import type { Tasks } from "./tasks.ts";

const RESTART_REASON = "the relay restarts";

interface AccountClients {
  connections: Set<Connection>;
  unsubscribe: () => void;
}

export interface HubOptions {
  bus: Bus;
  metrics: RelayMetrics;
  tasks: Tasks;
}

export class Hub {
  readonly #options: HubOptions;
  readonly #connections = new Set<Connection>();
  #emptied: (() => void) | undefined;
  #stopping = false;
  readonly #ofKeys = new Map<string, Set<Connection>>();
  readonly #accounts = new Map<string, AccountClients>();
  readonly gauge: Gauge;

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

  /** Open connections of a key, on this node. */
  socketsOf(keyId: string): number {
    return this.#ofKeys.get(keyId)?.size ?? 0;
  }

  /** Bytes that they have not read, together. */
  unreadOf(keyId: string): number {
    let bytes = 0;
    for (const connection of this.#ofKeys.get(keyId) ?? []) bytes += connection.unread;
    return bytes;
  }

  add(connection: Connection): void {
    this.#connections.add(connection);
    const { id } = connection.key;
    this.#ofKeys.set(id, (this.#ofKeys.get(id) ?? new Set()).add(connection));
    if (this.#stopping) connection.close(CLOSE.SERVICE_RESTART, RESTART_REASON);
  }

  /** The client says who it is, and is about to be welcomed: its device is online from here on. */
  claim(connection: Connection, deviceId: string): void {
    if (!this.#connections.has(connection)) return;
    connection.claimed = deviceId;
    this.#clientsOf(connection.account).connections.add(connection);
  }

  /** The client hears what concerns it from here on. Others of the same listener give way. */
  greeted({ account, greeted, id }: Connection): void {
    if (greeted?.role !== "listener") return;
    this.#options.bus.publish(account, {
      kind: "greeted",
      deviceId: greeted.deviceId,
      connection: id,
    });
  }

  /** True when its device went offline: nothing else of it is connected here. */
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
    if (this.#stopping || connection.claimed === undefined) return false;
    const other = find(
      clients?.connections,
      ({ claimed, isOpen }) => isOpen && claimed === connection.claimed,
    );
    return other === undefined;
  }

  /** The connection of a listener of the account, when it is on this node. */
  listener(account: string, deviceId: string): Connection | undefined {
    const { connections } = this.#accounts.get(account) ?? {};
    return find(connections, (one) => isAddressed(one, { listener: deviceId }));
  }

  /** Closes what a revoked key or device has open. */
  revoke(revocation: Revocation): void {
    for (const connection of this.#connections) {
      if (isHit(connection, revocation)) {
        connection.close(CLOSE.REVOKED, `the ${revocation.kind} was revoked`);
      }
    }
  }

  /** What the passing of time asks for; to be called about once a second. */
  tick(): void {
    const { metrics } = this.#options;
    for (const connection of this.#connections) {
      if (connection.tick() === "silent") metrics.silent.add();
      const { outbox } = connection;
      if (outbox === undefined || !connection.isOpen) continue;
      const resent = outbox.resendDue();
      if (resent > 0) metrics.resent.add({}, resent);
      this.fill(connection);
    }
  }

  /** Sends a listener what the store has for it, as far as its window goes; a store that fails is asked again. */
  fill({ outbox }: Connection): void {
    if (outbox?.wantsMore === true) this.#options.tasks.run(outbox.fill());
  }

  /** Sends everyone away to come back; resolves when they are gone. */
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
    const handler = (message: BusMessage): void => handle(connections, message);
    const clients = { connections, unsubscribe: this.#options.bus.subscribe(account, handler) };
    this.#accounts.set(account, clients);
    return clients;
  }

  #ofRole(role: string): number {
    return [...this.#connections].filter(({ greeted }) => (greeted?.role ?? "none") === role).length;
  }
}

/** Many clients may be connected: none is copied to find one. */
function find(
  connections: Iterable<Connection> | undefined,
  wanted: (connection: Connection) => boolean,
): Connection | undefined {
  for (const connection of connections ?? []) if (wanted(connection)) return connection;
  return undefined;
}

function handle(connections: Iterable<Connection>, message: BusMessage): void {
  switch (message.kind) {
    case "frame":
      for (const connection of connections) {
        if (isAddressed(connection, message.to)) pass(connection, message);
      }
      return;
    case "greeted":
      for (const connection of connections) {
        const { id, greeted } = connection;
        if (id === message.connection || greeted?.deviceId !== message.deviceId) continue;
        connection.close(CLOSE.REPLACED, "another connection of this device took over");
      }
      return;
    default:
      message satisfies never;
  }
}

function pass(connection: Connection, { push, text }: Extract<BusMessage, { kind: "frame" }>): void {
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

function isHit({ account, key, greeted }: Connection, revocation: Revocation): boolean {
  if (account !== revocation.account) return false;
  if (revocation.kind === "key") return key.id === revocation.id;
  return key.deviceId === revocation.id || greeted?.deviceId === revocation.id;
}
