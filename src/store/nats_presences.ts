/** Which devices are online, and on which node: each node writes its heartbeat to NATS, and a device is online only on a live node. */
import { ClockJumps, systemClock } from "../async/clock.ts";
import { Documents, type NatsContext, type StoredDevice, untilStored } from "./nats_context.ts";
import { eachOf } from "./nats_streams.ts";
import type { DeviceName, DeviceRecord } from "./store.ts";

/** A device's presence, written by the node that it is connected to. */
interface Presence {
  online: boolean;
  lastSeen: number;
  node: string;
  /** For a listener that went offline at `at`: pushes up to this sequence may have been sent to it. */
  sent?: { upTo: number; at: number } | undefined;
  /** Pushes that are never sent: the expiry of each, by sequence. */
  held?: Record<string, number>;
}

interface Change {
  online: boolean;
  lastSeen: number;
  /** For a listener that goes offline: the newest push that it may have been sent. */
  sentUpTo?: number | undefined;
}

/** Pushes held back from one device at a time. */
const HELD_MAX = 200;

export class Presences {
  readonly #context: NatsContext;
  readonly #nodes: Nodes;
  readonly #documents: Documents<Presence>;
  /** Devices that are connected to this node, by subject. */
  readonly #own = new Set<string>();
  /** Those of them that have connected to another node since, with that node. */
  readonly #elsewhere = new Map<string, string>();
  readonly #end = new AbortController();
  #stopFollowing = (): void => undefined;
  #cancelWatch = (): void => undefined;
  #isGoing = false;

  constructor(context: NatsContext, nodes: Nodes) {
    this.#context = context;
    this.#nodes = nodes;
    this.#documents = new Documents<Presence>({
      stream: context.state,
      empty: () => ({ online: false, lastSeen: 0, node: "" }),
      note: ({ online, node }) => online ? node : "",
    });
  }

  /**
   * For a relay only. Several programs of a host share a device, and so may a phone's pages, but a presence names only
   * the node of the newest connection: when that connection or its node ends, a node that still has another one writes
   * its own name.
   */
  async start(): Promise<void> {
    const { state, subjects, node } = this.#context;
    const { stop } = await state.follow(
      { filter: subjects.everyPresence, from: state.openedAt + 1 },
      ({ subject, note }) => {
        // Older versions write no note.
        if (note !== node && this.#own.has(subject)) untilStored(() => this.#writeOwn(subject), this.#end);
      },
    );
    this.#stopFollowing = stop;
    this.#watchNodes();
  }

  stop(): void {
    this.#end.abort();
    this.#stopFollowing();
    this.#cancelWatch();
  }

  /** Checks every `HEARTBEAT_MS` whether the nodes to which devices of this one have connected are alive. */
  #watchNodes(): void {
    this.#cancelWatch = systemClock.after(HEARTBEAT_MS, () => {
      void this.#takeBackFromDead().catch(() => undefined).finally(() => {
        if (!this.#end.signal.aborted) this.#watchNodes();
      });
    });
  }

  async #takeBackFromDead(): Promise<void> {
    for (const node of new Set(this.#elsewhere.values())) {
      if (await this.isAlive(node)) continue;
      const left = [...this.#elsewhere].filter(([, other]) => other === node);
      await eachOf(left, ([subject]) => this.#writeOwn(subject, node));
    }
  }

  /** Writes that a device is online here, unless it is not, or is online on another node than `dead`. */
  async #writeOwn(subject: string, dead?: string): Promise<void> {
    const { node } = this.#context;
    const other = await this.#documents.change(subject, (presence) => {
      if (!this.#own.has(subject)) return undefined;
      if (!presence.online || presence.node === dead) {
        Object.assign(presence, { online: true, lastSeen: this.#nodes.now(), node, sent: undefined });
      }
      return presence.node === node ? undefined : presence.node;
    });
    if (other === undefined || !this.#own.has(subject)) this.#elsewhere.delete(subject);
    else this.#elsewhere.set(subject, other);
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
    this.#elsewhere.delete(subject);
  }

  /** True if the device was last noted as connected to this node. */
  isHere({ account, id }: DeviceName): boolean {
    return this.#own.has(this.#context.subjects.presence(account, id));
  }

  /** A device that has connected to another node does not go offline because its older connection here closed. */
  async write({ account, id }: DeviceName, change: Change): Promise<void> {
    await this.#writeSubject(this.#context.subjects.presence(account, id), change);
  }

  /** Marks the devices of this node as offline; those of a node that died are offline because it died. */
  async setAllOffline(lastSeen: number, newestPush: () => Promise<number>): Promise<void> {
    const own = [...this.#own];
    this.#own.clear();
    this.#elsewhere.clear();
    if (own.length === 0) return;
    this.#isGoing = true;
    const change = { online: false, lastSeen, sentUpTo: await newestPush() };
    await eachOf(own, (subject) => this.#writeSubject(subject, change));
    this.#isGoing = false;
  }

  /**
   * True if devices may still be stored as online here: the node's last heartbeat then tells when they were last seen.
   */
  get isGoing(): boolean {
    return this.#isGoing;
  }

  /**
   * Keeps a push from being sent to an offline listener. False unless the push was stored after the listener went
   * offline, so that no node can have sent it. Before a node sends the listener anything, it must change the same
   * document.
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
      if (online !== this.#own.has(subject)) return;
      if (!online && presence.online && presence.node !== node) return;
      // The device has since connected to another node and left it.
      if (!online && !presence.online && presence.lastSeen > lastSeen) return;
      const sent = sentUpTo === undefined ? undefined : { upTo: sentUpTo, at: lastSeen };
      Object.assign(presence, { online, lastSeen, node, sent });
    });
  }
}

const HEARTBEAT_MS = 4_000;
/** A node that has been silent for this long is dead. */
const DEAD_MS = 12_000;
/** How long a dead node is remembered. */
const NODE_KEPT_MS = 30 * 24 * 3_600_000;
/** How long the state of another node is cached. */
const REMEMBERED_MS = 1_000;
/** A smaller difference from NATS's clock is ignored. */
const CLOCK_ERROR_MS = 500;
/** A measurement of that difference that takes longer is ignored. */
const CLOCK_MEASURED_MS = 2_000;
/** Nodes remembered at a time. */
const NODES_MAX = 1_000;

interface Seen {
  alive: boolean;
  /** When it was last known to be alive; epoch milliseconds. */
  last: number;
}

export class Nodes {
  readonly #context: NatsContext;
  readonly #remembered = new Map<string, { seen: Seen; until: number }>();
  #cancel: (() => void) | undefined;
  #beating: Promise<unknown> = Promise.resolve();
  #ended = false;
  /** As it was last measured. */
  #clockOffset = 0;
  /** Jumps of this machine's clock since then. */
  #jumps = new ClockJumps(systemClock);

  constructor(context: NatsContext) {
    this.#context = context;
  }

  /** Milliseconds to add to this machine's clock for the clock of NATS, which all nodes share. */
  get clockOffset(): number {
    return this.#clockOffset - this.#jumps.jumpMs;
  }

  /** The time by NATS's clock, in epoch milliseconds. */
  now(): number {
    return systemClock.now() + this.clockOffset;
  }

  /**
   * Makes this node visible to other nodes, and keeps up its heartbeat. Tools that only read or change the store do not
   * call it.
   */
  async start(): Promise<void> {
    await this.#beat();
    await this.#forgetDead();
    this.#next();
  }

  /**
   * Ends the heartbeat and removes this node's entry: no device is online on it then. With `isKept` the entry stays,
   * like that of a node that died.
   */
  async end({ isKept = false } = {}): Promise<void> {
    this.#ended = true;
    this.#cancel?.();
    await this.#beating;
    if (this.#cancel === undefined || isKept) return;
    const { state, subjects, node } = this.#context;
    const entry = await state.get(subjects.node(node));
    if (entry !== undefined) await state.remove(entry.seq);
  }

  async seen(node: string): Promise<Seen> {
    const now = this.now();
    if (node === this.#context.node) return { alive: true, last: now };
    const known = this.#remembered.get(node);
    if (known !== undefined && systemClock.elapsed() < known.until) return known.seen;
    const entry = await this.#context.state.get(this.#context.subjects.node(node));
    const last = entry === undefined ? 0 : (JSON.parse(entry.text) as { at: number }).at;
    const seen = { alive: now - last < DEAD_MS, last };
    if (this.#remembered.size >= NODES_MAX) this.#remembered.clear();
    this.#remembered.set(node, { seen, until: systemClock.elapsed() + REMEMBERED_MS });
    return seen;
  }

  /** True when any relay node is alive, including this one. */
  async anyAlive(): Promise<boolean> {
    const nodes = await this.#context.state.list(this.#context.subjects.everyNode);
    const now = this.now();
    return nodes.some(({ text }) => now - (JSON.parse(text) as { at: number }).at < DEAD_MS);
  }

  /**
   * Removes the entries of nodes that died long ago. Each start of a node that was killed leaves one, which is used
   * only for the time when its devices were last seen.
   */
  async #forgetDead(): Promise<void> {
    const { state, subjects } = this.#context;
    const before = this.now() - NODE_KEPT_MS;
    for (const { seq, text } of await state.list(subjects.everyNode)) {
      if ((JSON.parse(text) as { at: number }).at < before) await state.remove(seq);
    }
  }

  /** Writes a heartbeat and measures the offset from NATS's clock; writes another one if the offset has changed. */
  async #beat(): Promise<void> {
    const { state, subjects, node } = this.#context;
    const began = systemClock.elapsed();
    const seq = await state.put(subjects.node(node), JSON.stringify({ at: this.now() }));
    const took = systemClock.elapsed() - began;
    const middle = systemClock.now() - took / 2;
    const jumps = new ClockJumps(systemClock);
    const storedAt = seq === undefined ? undefined : await state.storedAt(seq);
    if (storedAt === undefined || took > CLOCK_MEASURED_MS) return;
    this.#jumps = jumps;
    const offset = storedAt - middle;
    if (Math.abs(offset - this.#clockOffset) <= took / 2 + CLOCK_ERROR_MS) return;
    this.#clockOffset = Math.abs(offset) <= took / 2 + CLOCK_ERROR_MS ? 0 : Math.round(offset);
    await state.put(subjects.node(node), JSON.stringify({ at: this.now() }));
  }

  /** Schedules the next heartbeat, also after one that failed. */
  #next(): void {
    this.#cancel = systemClock.after(HEARTBEAT_MS, () => {
      this.#beating = this.#beat().catch(() => undefined).then(() => {
        if (!this.#ended) this.#next();
      });
    });
  }
}
