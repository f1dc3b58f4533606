/** The relay nodes on one NATS store: each says now and then that it is alive, and a device is online only by a live node. */
import { ClockJumps, systemClock } from "../async/clock.ts";
import type { NatsContext } from "./nats_context.ts";

const HEARTBEAT_MS = 4_000;
/** A node that has been silent for so long is dead. */
const DEAD_MS = 12_000;
/** How long a dead node is remembered. */
const NODE_KEPT_MS = 30 * 24 * 3_600_000;
/** How long an answer about another node is used again. */
const REMEMBERED_MS = 1_000;
/** A smaller difference from NATS's clock is left alone, and so is one that was measured in more than this. */
const CLOCK_ERROR_MS = 500;
const CLOCK_MEASURED_MS = 2_000;
/** Nodes remembered at a time. */
const NODES_MAX = 1_000;

interface Seen {
  alive: boolean;
  /** When it was last known to live; epoch milliseconds. */
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
  /** Of this machine's clock, since then. */
  #jumps = new ClockJumps(systemClock);

  constructor(context: NatsContext) {
    this.#context = context;
  }

  /** Add it to this machine's clock for the one of NATS, which all nodes share; milliseconds. */
  get clockOffset(): number {
    return this.#clockOffset - this.#jumps.jumpMs;
  }

  /** By NATS's clock, epoch milliseconds. */
  now(): number {
    return systemClock.now() + this.clockOffset;
  }

  /** From now on other nodes see this one. Tools that only read or change the store do not start. */
  async start(): Promise<void> {
    await this.#beat();
    await this.#forgetDead();
    this.#next();
  }

  /** The node is gone: nothing is online by it. */
  async end(): Promise<void> {
    this.#ended = true;
    this.#cancel?.();
    await this.#beating;
    if (this.#cancel === undefined) return;
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

  /** True when a relay node is alive, this one too. */
  async anyAlive(): Promise<boolean> {
    const nodes = await this.#context.state.list(this.#context.subjects.everyNode);
    const now = this.now();
    return nodes.some(({ text }) => now - (JSON.parse(text) as { at: number }).at < DEAD_MS);
  }

  /** Each start of a node that was killed leaves an entry, which then says only when its devices were seen last. */
  async #forgetDead(): Promise<void> {
    const { state, subjects } = this.#context;
    const before = this.now() - NODE_KEPT_MS;
    for (const { seq, text } of await state.list(subjects.everyNode)) {
      if ((JSON.parse(text) as { at: number }).at < before) await state.remove(seq);
    }
  }

  /** With a clock that was wrong it beats again. */
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

  /** A heartbeat that fails is followed by the next one. */
  #next(): void {
    this.#cancel = systemClock.after(HEARTBEAT_MS, () => {
      this.#beating = this.#beat().catch(() => undefined).then(() => {
        if (!this.#ended) this.#next();
      });
    });
  }
}
