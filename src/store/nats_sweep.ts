/** Which pushes in NATS are old: each sweep reads only those that have come of age since the last one. */
import { subjectToken } from "../runtime/nats.ts";
import type { NatsContext } from "./nats_context.ts";
import type { PushNote, ReceiptNote } from "./nats_open.ts";
import { eachOf } from "./nats_streams.ts";
import type { PushName } from "./store.ts";

export interface RemovalBounds {
  madeBefore: number;
  expiredBefore: number;
  signal?: AbortSignal;
}

/** How far the times of neighbouring pushes may be out of order: nodes' clocks differ. */
const DISORDER_MS = 3_600_000;
/** Above this many pushes it is faster to read the notes of all receipts. */
const READ_ONE_BY_ONE = 1_000;

interface Candidate extends PushName {
  expiresAt: number;
}

interface State {
  state: string;
  final: boolean;
}

/** Another node has removed it. */
const GONE: State = { state: "", final: true };

export class Sweep {
  readonly #context: NatsContext;
  readonly #prefix: string;
  /** The push up to which all were looked at. */
  #examined = 0;
  /** Those among them that may still expire, or had not been expired for long enough. */
  readonly #unripe = new Map<number, Candidate>();

  constructor(context: NatsContext, prefix: string) {
    this.#context = context;
    this.#prefix = prefix;
  }

  /** By sequence. */
  async findOld({ madeBefore, expiredBefore }: RemovalBounds): Promise<Map<number, PushName>> {
    const old = new Map<number, PushName>();
    await this.#scan(1, madeBefore, (seq, { account, id }) => void old.set(seq, { account, id }));
    await this.#examine(expiredBefore);
    const ripe = [...this.#unripe].filter(([seq, { expiresAt }]) =>
      expiresAt < expiredBefore && !old.has(seq)
    );
    const states = await this.#statesOf(ripe);
    for (const [seq, { account, id }] of ripe) {
      const { state, final } = states.get(seq) ?? GONE;
      if (final) this.#unripe.delete(seq);
      if (state === "expired") old.set(seq, { account, id });
    }
    for (const seq of old.keys()) this.#unripe.delete(seq);
    return old;
  }

  /** Looks at the pushes that are older than `expiredBefore` for the first time. */
  async #examine(expiredBefore: number): Promise<void> {
    await this.#scan(this.#examined + 1, expiredBefore, (seq, note, isInOrder) => {
      if (isInOrder) this.#examined = seq;
      const { account, id, expiresAt, final, state } = note;
      if (!final || state === "expired") this.#unripe.set(seq, { account, id, expiresAt });
    });
  }

  /** Calls `handler` for pushes made before `before`; `isInOrder` until the first that was made later. */
  async #scan(
    from: number,
    before: number,
    handler: (seq: number, note: PushNote, isInOrder: boolean) => void,
  ): Promise<void> {
    let isInOrder = true;
    await this.#context.pushes.scan(`${this.#prefix}.push.>`, ({ seq, note }) => {
      const push = JSON.parse(note) as PushNote;
      if (push.createdAt < before) handler(seq, push, isInOrder);
      else isInOrder = false;
      return push.createdAt < before + DISORDER_MS;
    }, from);
  }

  /** The newest states; a push without a receipt of its own kept the one that it was stored with. */
  async #statesOf(pushes: readonly (readonly [number, Candidate])[]): Promise<Map<number, State>> {
    const states = new Map<number, State>();
    if (pushes.length > READ_ONE_BY_ONE) {
      await this.#context.receipts.scan(`${this.#prefix}.receipt.>`, ({ note }) => {
        const { seq, ...state } = JSON.parse(note) as ReceiptNote;
        states.set(seq, state);
      });
    }
    await eachOf(pushes.filter(([seq]) => !states.has(seq)), async ([seq, name]) => {
      const state = await this.#stateOf(seq, name);
      if (state !== undefined) states.set(seq, state);
    });
    return states;
  }

  async #stateOf(seq: number, { account, id }: PushName): Promise<State | undefined> {
    const name = `${subjectToken(account)}.${subjectToken(id)}`;
    const [push, receipt] = await Promise.all([
      this.#context.pushes.getSeq(seq),
      this.#context.receipts.get(`${this.#prefix}.receipt.${name}`),
    ]);
    const changed = receipt && JSON.parse(receipt.text) as { seq: number; receipt: State };
    if (changed?.seq === seq) return changed.receipt;
    return push && (JSON.parse(push.text) as { receipt: State }).receipt;
  }
}
