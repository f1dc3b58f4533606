/** What the relay does on its own as time passes: ends due pushes, types late answers, and forgets what is old. */
import { PUSH_RETENTION_DAYS, RECEIPT_RETENTION_DAYS } from "../protocol/limits.ts";
import type { StoredPush } from "../store/store.ts";
import { typeLate } from "./asks_late.ts";
import { endOfDuePush } from "./expiry.ts";
import { ended } from "./receipt_transition.ts";
import { changeReceipt } from "./receipts.ts";
import type { Services } from "./services.ts";

/** Due pushes looked at in one go; the next go continues behind them. */
const DUE_PAGE = 200;
const DAY_MS = 86_400_000;

export class Upkeep {
  readonly #services: Services;
  #afterSeq = 0;
  #busy = false;

  constructor(services: Services) {
    this.#services = services;
  }

  /** Ends pushes whose time is over; to be called about once a second. One call at a time does the work. */
  async endDue(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    try {
      await this.#endPage();
    } finally {
      this.#busy = false;
    }
  }

  /** Forgets what is older than its retention; to be called about once an hour. */
  async forgetOld(): Promise<void> {
    const { store, clock } = this.#services;
    const now = clock.now();
    await store.removePushes({
      madeBefore: now - PUSH_RETENTION_DAYS * DAY_MS,
      expiredBefore: now - RECEIPT_RETENTION_DAYS * DAY_MS,
    });
    await store.removePairings({
      openBefore: now,
      takenBefore: now - RECEIPT_RETENTION_DAYS * DAY_MS,
    });
  }

  async #endPage(): Promise<void> {
    const { store, clock } = this.#services;
    const page = await store.duePushes({ now: clock.now(), afterSeq: this.#afterSeq, limit: DUE_PAGE });
    for (const stored of page) await this.#end(stored);
    this.#afterSeq = page.length === DUE_PAGE ? page.at(-1)?.seq ?? 0 : 0;
  }

  async #end(stored: StoredPush): Promise<void> {
    const { store, clock } = this.#services;
    const { account, target, push } = stored;
    if (push.type === "ask.answer") return await typeLate(this.#services, stored);
    const listener = target === undefined ? undefined : await store.findDevice({ account, id: target });
    const now = clock.now();
    if (endOfDuePush(stored, { listener, now }) === undefined) return;
    // Decided again on the receipt as it stands: the listener's word may have come meanwhile.
    await changeReceipt(this.#services, {
      push: { account, id: push.id },
      decide: (current) => {
        const end = endOfDuePush(current, { listener, now });
        return end && ended(current.receipt, end, now);
      },
    });
  }
}
