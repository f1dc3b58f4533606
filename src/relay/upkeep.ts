/** The relay's periodic work: ends due pushes, types late answers, and removes old data. */
import { ClockJumps } from "../async/clock.ts";
import { PUSH_RETENTION_DAYS, RECEIPT_RETENTION_DAYS } from "../protocol/limits.ts";
import type { DeviceRecord, StoredPush } from "../store/store.ts";
import { typeLateAnswer } from "./asks.ts";
import { changeReceipt, ended } from "./receipts.ts";
import type { Services } from "./handler.ts";

/** Due pushes that are ended together; they share a commit. */
const DUE_PAGE = 200;
/** Pages handled per call; the next call continues after them. */
const DUE_PAGES = 10;
const DAY_MS = 86_400_000;
/**
 * How long the relay waits for the acknowledgement of a listener that may hold the push: after the push's expiry, and
 * after its own start or a jump of its clock, because the listener could not acknowledge before or had no reason to.
 */
export const EXPIRY_GRACE_MS = 120_000;

export class Upkeep {
  readonly #services: Services;
  /** The last push of the last page, when more may follow. */
  #after: StoredPush | undefined;
  #busy = false;
  readonly #stopped = new AbortController();
  readonly #jumps: ClockJumps;
  /** Monotonic milliseconds until which no push becomes unknown. */
  #patientUntil: number;

  constructor(services: Services) {
    this.#services = services;
    this.#jumps = new ClockJumps(services.clock);
    this.#patientUntil = services.clock.elapsed() + EXPIRY_GRACE_MS;
  }

  /** Ends expired pushes; called about once a second. Does nothing while an earlier call is still running. */
  async endDue(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    const { clock } = this.#services;
    if (this.#jumps.check()) this.#patientUntil = clock.elapsed() + EXPIRY_GRACE_MS;
    try {
      let pages = 0;
      do await this.#endPage(); while (this.#after !== undefined && ++pages < DUE_PAGES);
    } finally {
      this.#busy = false;
    }
  }

  /** Removes data older than its retention; called about once an hour. */
  async forgetOld(): Promise<void> {
    const { store, clock } = this.#services;
    const now = clock.now();
    await store.removePushes({
      madeBefore: now - PUSH_RETENTION_DAYS * DAY_MS,
      expiredBefore: now - RECEIPT_RETENTION_DAYS * DAY_MS,
      signal: this.#stopped.signal,
    });
    await store.removePairings({
      openBefore: now,
      takenBefore: now - RECEIPT_RETENTION_DAYS * DAY_MS,
    });
  }

  /** A sweep under way ends with its current step; the next run of the relay continues it. */
  stop(): void {
    this.#stopped.abort();
  }

  async #endPage(): Promise<void> {
    const { store, clock } = this.#services;
    const page = await store.duePushes({ now: clock.now(), after: this.#after, limit: DUE_PAGE });
    await Promise.all(page.map((stored) => this.#end(stored)));
    this.#after = page.length === DUE_PAGE ? page.at(-1) : undefined;
  }

  async #end(stored: StoredPush): Promise<void> {
    const { store, clock } = this.#services;
    const { account, target, push } = stored;
    const device = target === undefined ? undefined : await store.findDevice({ account, id: target });
    const listener = device?.kind === "listener" ? device : undefined;
    const isForAsker = push.type === "ask.answer" && listener === undefined;
    if (isForAsker) return await typeLateAnswer(this.#services, stored);
    const now = clock.now();
    const end = endOfDuePush(stored, { listener, now });
    if (end === undefined || end === "unknown" && clock.elapsed() < this.#patientUntil) return;
    // Decides again on the current receipt: the listener may have acknowledged in the meantime.
    await changeReceipt(this.#services, {
      push: { account, id: push.id },
      decide: (current) => {
        const end = endOfDuePush(current, { listener, now });
        return end && ended(current.receipt, end, now);
      },
    });
  }
}

/**
 * How a due push ends. If its listener was connected at any time since the push was accepted, the push may have been
 * typed: only the listener can close it, and it becomes `unknown` when the listener does not. Otherwise it expires. A
 * question has no listener and expires.
 */
export function endOfDuePush(
  { push, receipt }: StoredPush,
  { listener, now }: { listener: DeviceRecord | undefined; now: number },
): "expired" | "unknown" | undefined {
  if (receipt.final || now < push.expiresAt) return undefined;
  if (push.type === "ask") return "expired";
  const seen = listener !== undefined && (listener.online || listener.lastSeen >= push.createdAt);
  if (receipt.state === "queued" && !seen) return "expired";
  return now >= push.expiresAt + EXPIRY_GRACE_MS ? "unknown" : undefined;
}
