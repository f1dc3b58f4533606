/** The pushes of all accounts that are not final, collected by following the streams of pushes and receipts. */
import type { NatsStream } from "./nats_streams.ts";
import type { DeviceName, NewPush, PushName } from "./store.ts";
import type { Receipt } from "../protocol/receipt.ts";

/** What followers see of a push. */
export interface PushNote extends PushName {
  target?: string | undefined;
  type: string;
  createdAt: number;
  expiresAt: number;
  state: string;
  final: boolean;
  /** For a push that was copied from another store: identifies the receipt that was copied with it. */
  copied?: string | undefined;
}

/** What followers see of a changed receipt. `seq` is that of its push. */
export interface ReceiptNote extends PushName {
  seq: number;
  state: string;
  final: boolean;
  expiresAt: number;
  /** The id of the answer that closed the question: it is stored next. */
  answer?: string | undefined;
}

export interface OpenPush extends PushNote {
  seq: number;
}

/**
 * Where a starting node may begin to read. It covers all pushes and receipts up to these sequences; of those pushes
 * only the ones in `open` are not final.
 */
export interface Checkpoint {
  pushes: number;
  receipts: number;
  open: OpenPush[];
  /** When NATS stored the last of these pushes, in epoch milliseconds; undefined if that was gone. */
  lastStoredAt?: number;
}

/** A checkpoint is one message: with more open pushes than this none is written. */
const CHECKPOINT_MAX = 2_000;
/** A new checkpoint is made once a starting node would have to read this many messages. */
const CHECKPOINT_EVERY = 1_000;

/** Final pushes remembered, in case the push is read after its receipt. */
const FINAL_MAX = 100_000;

interface OpenPushesOptions {
  pushes: NatsStream;
  receipts: NatsStream;
  /** All subjects of both streams. */
  filters: { pushes: string; receipts: string };
  /** A question was closed by an answer. */
  answered(note: ReceiptNote): void;
  /** The newest checkpoint, unless it belongs to other streams. */
  checkpoint(): Promise<Checkpoint | undefined>;
}

export class OpenPushes {
  readonly #options: OpenPushesOptions;
  readonly #bySeq = new Map<number, OpenPush>();
  readonly #ofDevices = new Map<string, Map<number, OpenPush>>();
  readonly #final = new Set<string>();
  readonly #watchers = new Set<(push: DeviceName & { seq: number }) => void>();
  /** Callers that wait until the pushes up to a sequence have been read. */
  readonly #waiting = new Map<() => void, number>();
  #upTo = 0;
  #receiptsUpTo = 0;
  /** Messages of the two streams that wait to be read. */
  readonly #behind = { pushes: 0, receipts: 0 };
  /** How many messages the newest checkpoint covers. */
  #covered = 0;
  /** The newest push that this node stored. */
  #stored = 0;
  #stops: (() => void)[] = [];
  #caughtUp: Promise<unknown> | undefined;

  constructor(options: OpenPushesOptions) {
    this.#options = options;
  }

  /** Resolves when this node has read every push that was stored before the first call, or that it stored itself. */
  async ready(): Promise<void> {
    this.#caughtUp ??= this.#follow().catch((error) => {
      this.#caughtUp = undefined;
      throw error;
    });
    await this.#caughtUp;
    const stored = this.#stored;
    if (this.#upTo >= stored) return;
    await new Promise<void>((resolve) => this.#waiting.set(resolve, stored));
  }

  /** Call this when this node has stored a push; it is read in its turn, after older ones of other nodes. */
  stored(seq: number): void {
    this.#stored = Math.max(this.#stored, seq);
  }

  /** Calls `handler` for every open push to a device when it is read, in order. Returns the unsubscribe function. */
  watch(handler: (push: DeviceName & { seq: number }) => void): () => void {
    this.#watchers.add(handler);
    // A stream that cannot be followed is reported by `ready`.
    this.ready().catch(() => undefined);
    return () => void this.#watchers.delete(handler);
  }

  #add(push: OpenPush): void {
    const { seq, account, target, final } = push;
    if (final || this.#final.has(placeOf(push))) return;
    this.#bySeq.set(seq, push);
    const device = keyOf(account, target);
    this.#ofDevices.set(device, (this.#ofDevices.get(device) ?? new Map()).set(seq, push));
    if (target === undefined) return;
    for (const watcher of this.#watchers) watcher({ account, id: target, seq });
  }

  /**
   * Removes a push that is final or gone. Its name is compared too: after a loss of messages another push may have its
   * sequence.
   */
  remove({ account, id, seq }: PushName & { seq: number }): void {
    this.#final.add(placeOf({ account, id, seq }));
    for (const oldest of this.#final) {
      if (this.#final.size <= FINAL_MAX) break;
      this.#final.delete(oldest);
    }
    const push = this.#bySeq.get(seq);
    if (push === undefined || push.id !== id || push.account !== account) return;
    this.#bySeq.delete(seq);
    const device = keyOf(push.account, push.target);
    const others = this.#ofDevices.get(device);
    others?.delete(seq);
    if (others?.size === 0) this.#ofDevices.delete(device);
  }

  /** The newest push that was read. */
  get upTo(): number {
    return this.#upTo;
  }

  get backlog(): number {
    return this.#behind.pushes + this.#behind.receipts;
  }

  /** The open pushes to a device, in order. */
  ofDevice({ account, id }: DeviceName, afterSeq: number): OpenPush[] {
    return this.#inOrder(keyOf(account, id)).filter(({ seq }) => seq > afterSeq);
  }

  /** The open questions of an account, in order: a question is for every phone. */
  questions(account: string): OpenPush[] {
    return this.#inOrder(keyOf(account, undefined)).filter(({ type }) => type === "ask");
  }

  #inOrder(device: string): OpenPush[] {
    return [...this.#ofDevices.get(device)?.values() ?? []].sort((one, other) => one.seq - other.seq);
  }

  /** The expired pushes, the first to expire first. */
  due(now: number): OpenPush[] {
    const due: OpenPush[] = [];
    for (const push of this.#bySeq.values()) if (push.expiresAt <= now) due.push(push);
    return due.sort((one, other) => one.expiresAt - other.expiresAt || one.seq - other.seq);
  }

  /** Returns a checkpoint for starting nodes; undefined while it would save them little. */
  newCheckpoint(): Checkpoint | undefined {
    const seen = this.#upTo + this.#receiptsUpTo;
    if (seen - this.#covered < CHECKPOINT_EVERY || this.#bySeq.size > CHECKPOINT_MAX) return undefined;
    this.#covered = seen;
    return { pushes: this.#upTo, receipts: this.#receiptsUpTo, open: [...this.#bySeq.values()] };
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#stops = [];
    for (const resolve of this.#waiting.keys()) resolve();
  }

  /** Forgets all pushes, which are then read again. A new checkpoint must replace the one that covers what was lost. */
  #forget(): void {
    this.#bySeq.clear();
    this.#ofDevices.clear();
    this.#upTo = this.#stored = 0;
    this.#covered = -CHECKPOINT_EVERY;
    for (const resolve of this.#waiting.keys()) resolve();
    this.#waiting.clear();
  }

  async #follow(): Promise<void> {
    const { pushes, receipts, filters } = this.#options;
    const known = await this.#options.checkpoint() ?? { pushes: 0, receipts: 0, open: [] };
    this.#covered = known.pushes + known.receipts;
    this.#receiptsUpTo = known.receipts;
    const fromReceipts = { filter: filters.receipts, from: known.receipts + 1 };
    const ofReceipts = await receipts.follow(fromReceipts, ({ seq, note, pending }) => {
      this.#receiptsUpTo = seq;
      this.#behind.receipts = pending;
      const receipt = JSON.parse(note) as ReceiptNote;
      if (receipt.final) this.remove(receipt);
      if (receipt.answer !== undefined) this.#options.answered(receipt);
    });
    this.#stops.push(ofReceipts.stop);
    await ofReceipts.caughtUp;
    this.#upTo = Math.max(this.#upTo, known.pushes);
    for (const push of known.open) this.#add(push);
    const fromPushes = { filter: filters.pushes, from: known.pushes + 1, lost: () => this.#forget() };
    const ofPushes = await pushes.follow(fromPushes, ({ seq, note, pending }) => {
      this.#upTo = seq;
      this.#behind.pushes = pending;
      this.#add({ ...JSON.parse(note) as PushNote, seq });
      for (const [resolve, wanted] of this.#waiting) {
        if (wanted > seq) continue;
        this.#waiting.delete(resolve);
        resolve();
      }
    });
    this.#stops.push(ofPushes.stop);
    await ofPushes.caughtUp;
  }
}

/** Identifies a push and its place in the stream. */
function placeOf({ account, id, seq }: PushName & { seq: number }): string {
  return `${seq} ${account} ${id}`;
}

function keyOf(account: string, device: string | undefined): string {
  return `${account} ${device ?? ""}`;
}

export function noteOfPush(
  { account, target, push, receipt }: Pick<NewPush, "account" | "target" | "push" | "receipt">,
): PushNote {
  const { id, type, createdAt, expiresAt } = push;
  return { account, id, target, type, createdAt, expiresAt, state: receipt.state, final: receipt.final };
}

export function noteOfReceipt(
  { account, id, expiresAt, seq }: PushName & { expiresAt: number; seq: number },
  { receipt, answer }: { receipt: Receipt; answer?: string | undefined },
): ReceiptNote {
  return { account, id, seq, expiresAt, state: receipt.state, final: receipt.final, answer };
}
