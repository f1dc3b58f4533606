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
}

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

  /** A device that has connected to another node does not go offline because its older connection here closed. */
  async set(
    { account, id }: DeviceName,
    { online, lastSeen }: { online: boolean; lastSeen: number },
  ): Promise<void> {
    const subject = this.#context.subjects.presence(account, id);
    if (online) this.#own.add(subject);
    else this.#own.delete(subject);
    await this.#setSubject(subject, { online, lastSeen });
  }

  /** Only those that are online by this node: the ones of a node that died are offline because it died. */
  async setAllOffline(now: number): Promise<void> {
    const own = [...this.#own];
    this.#own.clear();
    await eachOf(own, (subject) => this.#setSubject(subject, { online: false, lastSeen: now }));
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

  async #setSubject(subject: string, { online, lastSeen }: Omit<Presence, "node">): Promise<void> {
    const { node } = this.#context;
    await this.#documents.change(subject, (presence) => {
      if (!online && presence.online && presence.node !== node) return;
      Object.assign(presence, { online, lastSeen, node });
    });
  }
}
