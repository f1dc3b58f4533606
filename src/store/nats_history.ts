/** Past pushes in NATS: the pages of an account, and the pushes that are old enough to be removed. */
import { utf8Length } from "../async/encodings.ts";
import { setNewest } from "../async/newest.ts";
import { subjectToken } from "../runtime/nats.ts";
import { eachOf, type NatsStream } from "./nats_streams.ts";
import type { PushNote, ReceiptNote } from "./nats_open.ts";
import type { Page, PageRequest, PushName, StoredPush } from "./store.ts";
import type { NatsContext } from "./nats_context.ts";

/** Accounts whose order is cached; any other is read again at its next request. */
const ACCOUNTS_MAX = 500;
/** Pushes read together. */
const READ_AT_ONCE = 50;

interface Place {
  seq: number;
  id: string;
}

interface Order {
  pushes: Place[];
  /** The order is complete up to this sequence. */
  upTo: number;
}

interface HistoryOptions {
  pushes: NatsStream;
  prefix: string;
  find(name: PushName): Promise<StoredPush | undefined>;
  /** In order; one that was just closed may be among them. */
  openQuestions(account: string): Promise<readonly Place[]>;
}

export class History {
  readonly #options: HistoryOptions;
  readonly #orders = new Map<string, Order>();
  /** The stream's number of losses when the orders were read. */
  #losses = 0;

  constructor(options: HistoryOptions) {
    this.#options = options;
  }

  /** Newest last; undefined when the cursor names no push of the account. */
  async page(request: PageRequest): Promise<Page | undefined> {
    const start = await this.#startOf(request);
    if (start === undefined) return undefined;
    const order = request.openQuestions === true ? undefined : await this.#orderOf(request.account);
    const pushes = order?.pushes ?? await this.#options.openQuestions(request.account);
    const isForward = request.before === undefined;
    const wanted = isForward
      ? pushes.filter(({ seq }) => seq > start)
      : pushes.filter(({ seq }) => seq < start).reverse();
    const gone = new Set<Place>();
    const page = await this.#take(wanted, { request, gone });
    if (order !== undefined && gone.size > 0) order.pushes = order.pushes.filter((place) => !gone.has(place));
    return isForward ? page : { ...page, pushes: page.pushes.reverse() };
  }

  /** Takes the pushes that fit on the page; adds those that it does not find to `gone`. */
  async #take(
    wanted: readonly Place[],
    { request, gone }: { request: PageRequest; gone: Set<Place> },
  ): Promise<Page> {
    const { account, limit, bytes: most, openQuestions } = request;
    const pushes: StoredPush[] = [];
    let bytes = 0;
    for (let start = 0; start < wanted.length; start += READ_AT_ONCE) {
      const some = wanted.slice(start, start + READ_AT_ONCE);
      const found = await eachOf(some, ({ id }) => this.#options.find({ account, id }));
      for (const [index, place] of some.entries()) {
        const stored = found[index];
        // Removed, or its id is used again by a later push.
        if (stored?.seq !== place.seq) {
          gone.add(place);
          continue;
        }
        if (openQuestions === true && stored.receipt.final) continue;
        const size = sizeOf(stored);
        if (pushes.length === limit || pushes.length > 0 && bytes + size > most) {
          return { pushes, hasMore: true, bytes };
        }
        pushes.push(stored);
        bytes += size;
      }
    }
    return { pushes, hasMore: false, bytes };
  }

  async #startOf({ account, after, before }: PageRequest): Promise<number | undefined> {
    if (before === "end") return Number.MAX_SAFE_INTEGER;
    const id = before ?? after;
    return id === undefined ? 0 : (await this.#options.find({ account, id }))?.seq;
  }

  async #orderOf(account: string): Promise<Order> {
    const { pushes, prefix } = this.#options;
    if (this.#losses !== pushes.losses) this.#orders.clear();
    this.#losses = pushes.losses;
    const order = this.#orders.get(account) ?? { pushes: [], upTo: 0 };
    setNewest(this.#orders, [account, order], { max: ACCOUNTS_MAX });
    const filter = `${prefix}.push.${subjectToken(account)}.*`;
    await this.#forgetRemoved(order, filter);
    if (await pushes.next(filter, order.upTo + 1) === undefined) return order;
    await pushes.scan(filter, ({ seq, note }) => {
      // Another request may have read them meanwhile.
      if (seq <= order.upTo) return;
      order.pushes.push({ seq, id: (JSON.parse(note) as PushNote).id });
      order.upTo = seq;
    }, order.upTo + 1);
    return order;
  }

  /**
   * Removes from the order what was removed from its start, where pushes reach their age first. One in between is
   * dropped when a page does not find it.
   */
  async #forgetRemoved(order: Order, filter: string): Promise<void> {
    const [oldest] = order.pushes;
    if (oldest === undefined) return;
    const first = await this.#options.pushes.next(filter, oldest.seq);
    if (first === undefined || first.seq === oldest.seq) return;
    order.pushes = order.pushes.filter(({ seq }) => seq >= first.seq);
  }
}

function sizeOf({ push, receipt }: StoredPush): number {
  return utf8Length(JSON.stringify(push)) + utf8Length(JSON.stringify(receipt));
}

export interface RemovalBounds {
  madeBefore: number;
  expiredBefore: number;
  signal?: AbortSignal;
}

/** How far the times of neighboring pushes may be out of order: nodes' clocks differ. */
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
  /** All pushes up to this sequence were examined. */
  #examined = 0;
  /** Those among them that may still expire, or had not been expired for long enough. */
  readonly #unripe = new Map<number, Candidate>();

  constructor(context: NatsContext, prefix: string) {
    this.#context = context;
    this.#prefix = prefix;
  }

  /** Returns the pushes to remove, by sequence. */
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

  /** Examines the pushes that have become older than `expiredBefore`. */
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

  /** Returns the newest states; a push without a separate receipt still has the one that it was stored with. */
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
