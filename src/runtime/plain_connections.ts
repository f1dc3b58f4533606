/**
 * Connections other than WebSockets: bounds their number and their unread answers, in total and by address.
 */

import type { Socket } from "node:net";

/** Pending requests of one connection, including the one being handled; a connection that pipelines more is dropped. */
export const PIPELINED_MAX = 4;
/** A connection whose peer reads nothing of an answer for this long may be dropped to make room, in milliseconds. */
export const STALLED_MS = 1_000;

/** The limit because of which a connection was refused or ended. */
export type PlainLimit = "pipelined_requests" | "connections" | "connections_per_address" | "unsent_bytes";

interface Entry {
  socket: Socket;
  address: string;
  /** Limits by address do not apply. */
  isExempt: boolean;
  /** Pending requests. */
  requests: number;
  /** One of them has arrived completely and is being handled. */
  isWorking: boolean;
  /** Resolves when the latest request is answered. */
  last: Promise<void>;
  /** When the handling of a request last began or ended, by `elapsed`. */
  since: number;
  /** Since when a part of an answer has waited for the peer to read. */
  blockedSince: number | undefined;
}

export interface PlainLimits {
  connections: number;
  connectionsPerAddress: number;
  /** Bytes of answers that one address may leave unread; shared and short answers do not count. */
  unsentBytesPerAddress: number;
  /** Proxies that forward many people's connections, as `plainAddress` writes them; exempt from limits by address. */
  exempt?: readonly string[] | undefined;
  /** A connection that has pending requests but completes none for this long counts as not reading, in milliseconds. */
  stuckMs: number;
  /** A monotonic clock, in milliseconds. */
  elapsed: () => number;
  over?(limit: PlainLimit): void;
}

/** One request's place in its connection. */
export interface Turn {
  /** Resolves when the requests before it are answered; false if the connection has ended by then. */
  begin(): Promise<boolean>;
  /** The request has arrived completely and is being handled. */
  working(): void;
  /** Resolves when the next part of the answer may be written. */
  mayWrite(): Promise<void>;
  /** A part of the answer starts or stops waiting for the peer to read. */
  blocked(isBlocked: boolean): void;
  /** Reserves room for an answer and returns its release; undefined if there is none and the connection was ended. */
  reserve(bytes: number): (() => void) | undefined;
  /** The request is answered. */
  end(): void;
}

/** Connections opened or closed in one turn: each costs up to a millisecond. */
const CONNECTIONS_PER_TURN = 4;
/** Parts of answers written in one turn. */
const PARTS_PER_TURN = 16;
/** The queue of all dropped connections: closing them takes turns with opening others. */
const ENDING = "ending";
/** Dropped connections that may wait to be closed; further ones are closed at once. */
const ENDING_MAX = 1_024;
/** Answers up to this size always have room: each connection has at most one. */
const SHORT_BYTES = 16_384;

export class PlainConnections {
  /** Least recently used first; keyed by peer, because a TLS socket hides the one below it. */
  readonly #entries = new Map<string, Entry>();
  readonly #perAddress = new Map<string, number>();
  readonly #unsent = new Map<string, number>();
  /** Dropped connections, which are closed when their turn comes. */
  readonly #ending = new Set<Socket>();
  readonly #limits: PlainLimits;
  readonly #connectionTurns = new FairTurns(CONNECTIONS_PER_TURN);
  readonly #partTurns = new FairTurns(PARTS_PER_TURN);

  constructor(limits: PlainLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Over a limit, drops the longest idle connection, else one whose peer does not read, else this one. */
  add(socket: Socket): void {
    const { remoteAddress = "" } = socket;
    const address = networkOf(remoteAddress);
    const isExempt = this.#limits.exempt?.includes(plainAddress(remoteAddress)) ?? false;
    if (!this.#makeRoom(address, isExempt)) return this.#end(socket);
    const peer = peerOf(socket);
    const last = Promise.resolve();
    const entry: Entry = {
      socket,
      address,
      isExempt,
      requests: 0,
      isWorking: false,
      last,
      since: 0,
      blockedSince: undefined,
    };
    this.#entries.set(peer, entry);
    change(this.#perAddress, address, 1);
    withoutStacks(socket);
    const begun = this.#connectionTurns.run(address, () => {
      // Over TLS the connection reads by itself.
      if (socket.isPaused()) socket.resume();
    });
    socket.once("close", () => {
      begun();
      this.#forget(peer, entry);
    });
  }

  /** Stops counting a connection that became a WebSocket. */
  remove(socket: Socket): void {
    const peer = peerOf(socket);
    const entry = this.#entries.get(peer);
    if (entry !== undefined) this.#forget(peer, entry);
  }

  /** True when no request is being answered: a refusal written now cannot land inside another response. */
  isIdle(socket: Socket): boolean {
    return this.#entries.get(peerOf(socket))?.requests === 0;
  }

  /** Registers a request; undefined if its connection is dropped now, or was before. */
  take(socket: Socket): Turn | undefined {
    if (this.#ending.has(socket)) return undefined;
    const peer = peerOf(socket);
    const entry = this.#entries.get(peer);
    if (entry === undefined || entry.requests >= PIPELINED_MAX) {
      if (entry !== undefined) {
        this.#limits.over?.("pipelined_requests");
        this.#forget(peer, entry);
      }
      this.#end(socket);
      return undefined;
    }
    entry.requests += 1;
    const before = entry.last;
    const answered = Promise.withResolvers<void>();
    entry.last = answered.promise;
    return {
      begin: () => before.then(() => !socket.destroyed && !this.#ending.has(socket)),
      working: () => {
        entry.isWorking = true;
        entry.since = this.#limits.elapsed();
      },
      blocked: (isBlocked) => {
        entry.blockedSince = isBlocked ? this.#limits.elapsed() : undefined;
      },
      reserve: (bytes) => this.#reserve(entry, bytes),
      mayWrite: () => new Promise((resolve) => void this.#partTurns.run(entry.address, resolve)),
      end: () => {
        entry.requests -= 1;
        entry.blockedSince = undefined;
        answered.resolve();
        if (!entry.isWorking) return;
        entry.isWorking = false;
        entry.since = this.#limits.elapsed();
        // Last in the order: the most recently used.
        if (this.#entries.get(peer) !== entry) return;
        this.#entries.delete(peer);
        this.#entries.set(peer, entry);
      },
    };
  }

  /** Closes dropped connections at once and runs all waiting work. */
  close(): void {
    this.#connectionTurns[Symbol.dispose]();
    this.#partTurns[Symbol.dispose]();
  }

  #end(socket: Socket): void {
    if (this.#ending.has(socket)) return;
    if (this.#ending.size >= ENDING_MAX) {
      socket.destroy();
      return;
    }
    socket.pause();
    this.#ending.add(socket);
    this.#connectionTurns.run(ENDING, () => {
      this.#ending.delete(socket);
      socket.destroy();
    });
  }

  #makeRoom(address: string, isExempt: boolean): boolean {
    const { connections, connectionsPerAddress } = this.#limits;
    const ofAddress = this.#perAddress.get(address) ?? 0;
    if (ofAddress >= connectionsPerAddress && !isExempt) {
      this.#limits.over?.("connections_per_address");
      return this.#dropOne((entry) => entry.address === address);
    }
    if (this.#entries.size < connections) return true;
    this.#limits.over?.("connections");
    return this.#dropOne(() => true);
  }

  #dropOne(isCandidate: (entry: Entry) => boolean): boolean {
    const now = this.#limits.elapsed();
    const isIdle = ({ isWorking }: Entry): boolean => !isWorking;
    const isStalled = ({ blockedSince = now }: Entry): boolean => now - blockedSince >= STALLED_MS;
    const isStuck = ({ since }: Entry): boolean => now - since > this.#limits.stuckMs;
    return [isIdle, isStalled, isStuck].some((is) => this.#drop((entry) => isCandidate(entry) && is(entry)));
  }

  #drop(isDroppable: (entry: Entry) => boolean): boolean {
    for (const [peer, entry] of this.#entries) {
      if (!isDroppable(entry)) continue;
      this.#forget(peer, entry);
      this.#end(entry.socket);
      return true;
    }
    return false;
  }

  #forget(peer: string, entry: Entry): void {
    if (this.#entries.get(peer) !== entry) return;
    this.#entries.delete(peer);
    change(this.#perAddress, entry.address, -1);
  }

  #reserve({ address, isExempt, socket }: Entry, bytes: number): (() => void) | undefined {
    if (bytes <= SHORT_BYTES) return () => undefined;
    const { unsentBytesPerAddress } = this.#limits;
    const isOver = (this.#unsent.get(address) ?? 0) + bytes > unsentBytesPerAddress;
    if (isOver && !isExempt) {
      this.#limits.over?.("unsent_bytes");
      socket.destroy();
      return undefined;
    }
    change(this.#unsent, address, bytes);
    return () => change(this.#unsent, address, -bytes);
  }
}

/**
 * Every unanswered request of a closed connection is aborted with a separate error. These errors are never read, and
 * capturing their stacks dominates the cost of closing many connections. All listeners of one close run synchronously.
 */
function withoutStacks(socket: Socket): void {
  let limit = Error.stackTraceLimit;
  socket.prependOnceListener("close", () => {
    limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
  });
  socket.once("close", () => Error.stackTraceLimit = limit);
}

function change(counts: Map<string, number>, key: string, step: number): void {
  const count = (counts.get(key) ?? 0) + step;
  if (count <= 0) counts.delete(key);
  else counts.set(key, count);
}

function peerOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`;
}

/** Normalizes an IP address: IPv4 mapped into IPv6 becomes IPv4, and IPv6 takes the form that URLs use. */
export function plainAddress(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  const url = `http://[${address.replace(/%.*$/, "")}]`;
  if (mapped !== undefined || !URL.canParse(url)) return mapped ?? address;
  return new URL(url).hostname.slice(1, -1);
}

/** The network of one household or machine: an IPv4 address, or the first 64 bits of an IPv6 address. */
export function networkOf(text: string): string {
  const address = plainAddress(text);
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("::");
  const front = head === "" ? [] : head.split(":");
  const back = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  const all = [...front, ...Array.from({ length: zeros }, () => "0"), ...back];
  return address === "::1" ? address : `${all.slice(0, 4).join(":")}::/64`;
}

/** The time between two turns, in which the event loop handles what has arrived. */
const TURN_MS = 3;

/** Spreads work over short turns, round-robin by address, so that no address delays the others for long. */
export class FairTurns {
  readonly #perTurn: number;
  /** By address, in the order in which they are served. */
  readonly #waiting = new Map<string, Set<() => void>>();
  #left: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  /** `perTurn`: pieces of work done in one turn. */
  constructor(perTurn: number) {
    this.#perTurn = this.#left = perTurn;
  }

  /** Does the work now, or in a later turn if this one is full; the returned function cancels it. */
  run(address: string, work: () => void): () => void {
    if (this.#isOver) {
      work();
      return () => undefined;
    }
    this.#timer ??= setTimeout(() => this.#turn(), TURN_MS);
    if (this.#left > 0 && this.#waiting.size === 0) {
      this.#left -= 1;
      work();
      return () => undefined;
    }
    const queue = this.#waiting.get(address) ?? new Set();
    this.#waiting.set(address, queue.add(work));
    return () => {
      queue.delete(work);
      if (queue.size === 0 && this.#waiting.get(address) === queue) this.#waiting.delete(address);
    };
  }

  /** Does all waiting work now, and later work without delay. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const queues = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const queue of queues) for (const work of queue) work();
  }

  #turn(): void {
    this.#timer = undefined;
    this.#left = this.#perTurn;
    if (this.#waiting.size === 0) return;
    this.#timer = setTimeout(() => this.#turn(), TURN_MS);
    for (const [address, queue] of this.#waiting) {
      const [work] = queue;
      this.#waiting.delete(address);
      if (work === undefined) continue;
      queue.delete(work);
      // Behind the other addresses; this loop reaches it again.
      if (queue.size > 0) this.#waiting.set(address, queue);
      this.#left -= 1;
      work();
      if (this.#left === 0) return;
    }
  }
}
