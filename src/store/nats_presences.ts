/** Which devices are online, and by which node, in NATS. */
import type { NatsContext, StoredDevice } from "./nats_context.ts";
import type { Documents } from "./nats_documents.ts";
import type { Nodes } from "./nats_nodes.ts";
import { eachOf } from "./nats_streams.ts";
import type { DeviceName, DeviceRecord } from "./store.ts";

/** A device's presence, written by the node that it is connected to. */
interface Presence {
  online: boolean;
  lastSeen: number;
  node: string;
  /** Of a listener that went offline at `at`: pushes up to this sequence may have been sent to it. */
  sent?: { upTo: number; at: number } | undefined;
  /** Pushes that are never sent, by sequence: when each expires. */
  held?: Record<string, number>;
}

interface Change {
  online: boolean;
  lastSeen: number;
  /** Of a listener that goes offline: the newest push that it may have been sent. */
  sentUpTo?: number | undefined;
}

/** Pushes held back from one device at a time. */
const HELD_MAX = 200;

export class Presences {
  readonly #context: NatsContext;
  readonly #nodes: Nodes;
  readonly #documents: Documents<Presence>;
  /** Devices that are online by this node, by subject. */
  readonly #own = new Set<string>();

  constructor(context: NatsContext, nodes: Nodes) {
    this.#context = context;
    this.#nodes = nodes;
    this.#documents = context.documents<Presence>(() => ({ online: false, lastSeen: 0, node: "" }));
  }

  async set(device: DeviceName, change: Change): Promise<void> {
    this.note(device, change);
    await this.write(device, change);
  }

  /** Notes what `write` will store: the change that was noted last wins, whichever is written first. */
  note({ account, id }: DeviceName, { online }: Pick<Change, "online">): void {
    const subject = this.#context.subjects.presence(account, id);
    if (online) this.#own.add(subject);
    else this.#own.delete(subject);
  }

  /** A device that has connected to another node does not go offline because its older connection here closed. */
  async write({ account, id }: DeviceName, change: Change): Promise<void> {
    await this.#writeSubject(this.#context.subjects.presence(account, id), change);
  }

  /** Only those that are online by this node: the ones of a node that died are offline because it died. */
  async setAllOffline(lastSeen: number, newestPush: () => Promise<number>): Promise<void> {
    const own = [...this.#own];
    this.#own.clear();
    if (own.length === 0) return;
    const change = { online: false, lastSeen, sentUpTo: await newestPush() };
    await eachOf(own, (subject) => this.#writeSubject(subject, change));
  }

  /**
   * Keeps a push from being sent to an offline listener, when none can have sent it: it was stored after the listener went
   * offline. Decided by the document that a node must change before it sends anything to the listener.
   */
  holdBack(
    { account, id }: DeviceName,
    { seq, expiresAt }: { seq: number; expiresAt: number },
  ): Promise<boolean> {
    const now = this.#nodes.now();
    return this.#documents.change(this.#context.subjects.presence(account, id), (presence) => {
      const { online, sent, lastSeen, held = {} } = presence;
      if (held[seq] !== undefined) return true;
      if (online || sent === undefined || sent.at !== lastSeen || seq <= sent.upTo) return false;
      const others = Object.entries(held).filter(([, until]) => until > now);
      if (others.length >= HELD_MAX) return false;
      presence.held = { ...Object.fromEntries(others), [seq]: expiresAt };
      return true;
    });
  }

  /** The pushes that must not be sent to a device of this node; undefined when it is offline, or connected to another. */
  async heldHere({ account, id }: DeviceName): Promise<ReadonlySet<number> | undefined> {
    const presence = await this.#documents.get(this.#context.subjects.presence(account, id));
    if (presence !== undefined && !(presence.online && presence.node === this.#context.node)) {
      return undefined;
    }
    return new Set(Object.keys(presence?.held ?? {}).map(Number));
  }

  async of(stored: StoredDevice): Promise<DeviceRecord> {
    const { publicKey, revokedAt } = stored;
    const device = { ...stored, publicKey, revokedAt };
    const subject = this.#context.subjects.presence(device.account, device.id);
    const presence = await this.#documents.get(subject);
    if (presence === undefined) return { ...device, online: false, lastSeen: 0 };
    const { online, lastSeen, node } = presence;
    if (!online) return { ...device, online, lastSeen };
    const seen = await this.#nodes.seen(node);
    return { ...device, online: seen.alive, lastSeen: seen.alive ? lastSeen : Math.max(lastSeen, seen.last) };
  }

  /** The live node that the device is connected to, if it is another. */
  async nodeOf({ account, id }: DeviceName): Promise<string | undefined> {
    const presence = await this.#documents.get(this.#context.subjects.presence(account, id));
    if (presence === undefined || !presence.online || presence.node === this.#context.node) return undefined;
    return (await this.#nodes.seen(presence.node)).alive ? presence.node : undefined;
  }

  async isAlive(node: string): Promise<boolean> {
    return (await this.#nodes.seen(node)).alive;
  }

  async #writeSubject(subject: string, { online, lastSeen, sentUpTo }: Change): Promise<void> {
    const { node } = this.#context;
    await this.#documents.change(subject, (presence) => {
      if (!online && (this.#own.has(subject) || presence.online && presence.node !== node)) return;
      const sent = sentUpTo === undefined ? undefined : { upTo: sentUpTo, at: lastSeen };
      Object.assign(presence, { online, lastSeen, node, sent });
    });
  }
}
