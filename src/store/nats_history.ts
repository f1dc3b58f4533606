/** Pages of an account's history: which pushes an account has, in order, is remembered and brought up to date at each request. */
import { utf8Length } from "../async/encodings.ts";
import { subjectToken } from "../runtime/nats.ts";
import { eachOf, type NatsStream } from "./nats_streams.ts";
import type { PushNote } from "./nats_open.ts";
import type { Page, PageRequest, PushName, StoredPush } from "./store.ts";

/** Accounts whose order is remembered; one that is asked for again is read again. */
const ACCOUNTS_MAX = 500;
/** Pushes read together. */
const READ_AT_ONCE = 50;

interface Place {
  seq: number;
  id: string;
}

interface Order {
  pushes: Place[];
  /** Known up to this sequence. */
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

  constructor(options: HistoryOptions) {
    this.#options = options;
  }

  /** Newest last; undefined when the cursor names no push of the account. */
  async page(request: PageRequest): Promise<Page | undefined> {
    const start = await this.#startOf(request);
    if (start === undefined) return undefined;
    const pushes = request.openQuestions === true
      ? await this.#options.openQuestions(request.account)
      : (await this.#orderOf(request.account)).pushes;
    const isForward = request.before === undefined;
    const wanted = isForward
      ? pushes.filter(({ seq }) => seq > start)
      : pushes.filter(({ seq }) => seq < start).reverse();
    const page = await this.#take(wanted, request);
    return isForward ? page : { ...page, pushes: page.pushes.reverse() };
  }

  async #take(wanted: readonly Place[], request: PageRequest): Promise<Page> {
    const { account, limit, bytes: most, openQuestions } = request;
    const pushes: StoredPush[] = [];
    let bytes = 0;
    for (let start = 0; start < wanted.length; start += READ_AT_ONCE) {
      const some = wanted.slice(start, start + READ_AT_ONCE);
      const found = await eachOf(some, ({ id }) => this.#options.find({ account, id }));
      for (const [index, stored] of found.entries()) {
        // Removed, or its id is used again further on.
        if (stored === undefined || stored.seq !== some[index]?.seq) continue;
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
    const order = this.#orders.get(account) ?? { pushes: [], upTo: 0 };
    this.#orders.delete(account);
    this.#orders.set(account, order);
    for (const oldest of this.#orders.keys()) {
      if (this.#orders.size <= ACCOUNTS_MAX) break;
      this.#orders.delete(oldest);
    }
    const filter = `${prefix}.push.${subjectToken(account)}.*`;
    if (await pushes.next(filter, order.upTo + 1) === undefined) return order;
    await pushes.scan(filter, ({ seq, note }) => {
      // Another request may have read them meanwhile.
      if (seq <= order.upTo) return;
      order.pushes.push({ seq, id: (JSON.parse(note) as PushNote).id });
      order.upTo = seq;
    }, order.upTo + 1);
    return order;
  }
}

function sizeOf({ push, receipt }: StoredPush): number {
  return utf8Length(JSON.stringify(push)) + utf8Length(JSON.stringify(receipt));
}
