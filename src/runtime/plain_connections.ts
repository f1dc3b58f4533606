/**
 * The connections that are no WebSocket: their number, and what they leave unread, are bounded, in all and by address.
 */

import type { Socket } from "node:net";

/** Requests that one connection may have in hand, one of them worked on; who pipelines more is dropped. */
export const PIPELINED_MAX = 4;
/** A connection that takes nothing for so long of an answer makes room for others, in milliseconds. */
export const STALLED_MS = 1_000;

/** What was refused, or ended, because of which limit. */
export type PlainLimit = "pipelined_requests" | "connections" | "connections_per_address" | "unsent_bytes";

interface Entry {
  socket: Socket;
  address: string;
  /** No limit by address is its. */
  isExempt: boolean;
  /** Requests in hand. */
  requests: number;
  /** One of them is here as a whole, and is worked on. */
  isWorking: boolean;
  /** Resolves when the request before is answered. */
  last: Promise<void>;
  /** When a request came to an idle connection, or one was answered last. */
  since: number;
  /** Since when a part of an answer waits for the peer to read. */
  blockedSince: number | undefined;
}

export interface PlainLimits {
  connections: number;
  connectionsPerAddress: number;
  /** Bytes of answers that one address may leave unread; those that are shared or short do not count. */
  unsentBytesPerAddress: number;
  /** Proxies that pass on many people's connections, as `plainAddress`: no limit by address is theirs. */
  exempt?: readonly string[] | undefined;
  /** A connection that has requests in hand and answers none for so long does not read, in milliseconds. */
  stuckMs: number;
  /** Milliseconds that never go back. */
  elapsed: () => number;
  over?(limit: PlainLimit): void;
}

/** One request's place in its connection. */
export interface Turn {
  /** Resolves when the requests before it are answered: true when the connection still stands. */
  begin(): Promise<boolean>;
  /** The request is here as a whole, and is worked on. */
  working(): void;
  /** Resolves when the next part of the answer may be written. */
  mayWrite(): Promise<void>;
  /** A part of the answer waits for the peer, or is taken. */
  blocked(isBlocked: boolean): void;
  /** Room for an answer of so many bytes; undefined ended the connection. */
  reserve(bytes: number): (() => void) | undefined;
  /** It is answered. */
  end(): void;
}

/** Connections that are begun or ended in one turn: each costs up to a millisecond. */
const CONNECTIONS_PER_TURN = 4;
/** Parts of answers that are written in one turn. */
const PARTS_PER_TURN = 16;
/** Stands for the dropped connections of all addresses: ending them takes turns with beginning others. */
const ENDING = "ending";
/** Dropped connections that wait for their end; more of them are ended at once. */
const ENDING_MAX = 1_024;
/** Shorter answers always have room: one of them for each connection at most. */
const SHORT_BYTES = 16_384;

export class PlainConnections {
  /** In the order of their last use; by peer, because a TLS socket hides the one below it. */
  readonly #entries = new Map<string, Entry>();
  readonly #perAddress = new Map<string, number>();
  readonly #unsent = new Map<string, number>();
  /** Dropped, and ended when their turn comes. */
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

  /** Over a limit the one idle longest is dropped, else one whose peer does not read, else this one. */
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

  /** The connection became a WebSocket, whose owner counts it. */
  remove(socket: Socket): void {
    const peer = peerOf(socket);
    const entry = this.#entries.get(peer);
    if (entry !== undefined) this.#forget(peer, entry);
  }

  /** True when no request is being answered: a refusal written now cannot land inside another response. */
  isIdle(socket: Socket): boolean {
    return this.#entries.get(peerOf(socket))?.requests === 0;
  }

  /** A request came; undefined when the connection was dropped for it, or before. */
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

  /** Ends at once what was dropped, and keeps nobody waiting for a turn. */
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

  #dropOne(isMeant: (entry: Entry) => boolean): boolean {
    const now = this.#limits.elapsed();
    const isIdle = ({ isWorking }: Entry): boolean => !isWorking;
    const isStalled = ({ blockedSince = now }: Entry): boolean => now - blockedSince >= STALLED_MS;
    const isStuck = ({ since }: Entry): boolean => now - since > this.#limits.stuckMs;
    return [isIdle, isStalled, isStuck].some((is) => this.#drop((entry) => isMeant(entry) && is(entry)));
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
 * Every unanswered request of a closed connection is aborted with a separate error. Nobody reads these errors, and
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

/** An IP address in its one form: IPv4 also where it is mapped into IPv6, IPv6 as in a URL. */
export function plainAddress(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  const url = `http://[${address.replace(/%.*$/, "")}]`;
  if (mapped !== undefined || !URL.canParse(url)) return mapped ?? address;
  return new URL(url).hostname.slice(1, -1);
}

/** One household or machine: an IPv4 address, or the 64 bits of an IPv6 network. */
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

/** Between two turns the event loop handles what has arrived since. */
const TURN_MS = 3;

/** Spreads work over short turns, one address after the other, so that what one address causes delays nobody else for long. */
export class FairTurns {
  readonly #perTurn: number;
  /** By address, in the order in which they are served. */
  readonly #waiting = new Map<string, Set<() => void>>();
  #left: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  /** So many pieces of work are done in one turn. */
  constructor(perTurn: number) {
    this.#perTurn = this.#left = perTurn;
  }

  /** Does the work now, or in a later turn when this one has done its share; the result takes it back. */
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

  /** Does at once what waits, and what comes later. */
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
