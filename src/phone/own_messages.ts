/** What the user does with messages of this phone: composed, now or for later, edited, cancelled, discarded, sent again. */
import type { Clock } from "../async/clock.ts";
import { randomUuid } from "../async/encodings.ts";
import type { Later } from "../protocol/later.ts";
import { TTL_MAX_SECONDS } from "../protocol/limits.ts";
import type { LiveRelay } from "./live_relay.ts";
import { type Message, unsent } from "./message.ts";
import { entryOf, type OutboxStore } from "./outbox.ts";
import { outboxOf, relayNow, type Store } from "./state.ts";
import type { OutboxEntry } from "./storage.ts";

interface OwnMessagesOptions {
  store: Store;
  outboxStore: OutboxStore;
  clock: Clock;
  /** Undefined while the phone is signed out. */
  live(): Pick<LiveRelay, "pump" | "mayHaveSent" | "abortSending"> | undefined;
}

export class OwnMessages {
  readonly #options: OwnMessagesOptions;

  constructor(options: OwnMessagesOptions) {
    this.#options = options;
  }

  /** Stores the message and shows it. The outbox finds it in the page's state (`outboxOf`). */
  async compose(
    content: Partial<OutboxEntry> & Omit<OutboxEntry, "id" | "createdAt">,
    { keepsDraft = false } = {},
  ): Promise<void> {
    const { store } = this.#options;
    const entry = { id: randomUuid(), ...content, createdAt: this.#nextTime() };
    const progress = { kind: "outbox", unsaved: true } as const;
    store.dispatch({ type: "composed", message: { ...entry, fromHere: true, progress }, keepsDraft });
    await this.#send(entry);
  }

  /** By the relay's clock, as far as it is known, but after every unsent message: they are sent in this order. */
  #nextTime(): number {
    const { store, clock } = this.#options;
    const last = outboxOf(store.get()).at(-1)?.createdAt ?? 0;
    return Math.max(relayNow(store.get(), clock.now()), last + 1);
  }

  /** Sends one that the relay rejected once more. */
  async retry(message: Message): Promise<void> {
    this.#options.store.dispatch({ type: "retried", id: message.id });
    await this.#send(entryOf(unsent(message)));
  }

  /** Says that it survives a reload once that is so. */
  async #send(entry: OutboxEntry): Promise<void> {
    const { store, outboxStore, live } = this.#options;
    if (await outboxStore.put(entry)) store.dispatch({ type: "saved", id: entry.id });
    await live()?.pump();
  }

  /** Its text becomes the draft once it is certain that it will not be typed. */
  async edit(message: Message): Promise<void> {
    const { id, progress } = message;
    const isFailed = progress.kind === "failed";
    const isOver = isFailed || (progress.kind === "taken" && progress.receipt.final);
    if (!isOver) return await this.cancel(message, { edit: true });
    this.#options.store.dispatch({ type: "edited", message });
    if (isFailed) await this.discard(id);
  }

  /** Not typed, unless its typing has begun. A message that never left this phone is gone at once. */
  async cancel(message: Message, { edit }: { edit: boolean } = { edit: false }): Promise<void> {
    const { store, outboxStore, live } = this.#options;
    const { id, deviceId, session, progress } = message;
    if (progress.kind === "outbox" && live()?.mayHaveSent(id) === false) {
      if (edit) store.dispatch({ type: "edited", message });
      return await this.discard(id);
    }
    store.dispatch({ type: "cancelled", id, edit });
    const cancelled = store.get().messages.get(id);
    const isNoted = cancelled !== undefined && await outboxStore.replace(cancelled);
    // Its text is worth less than that it is not sent after a reload.
    if (!isNoted && !edit) await outboxStore.remove(id);
    live()?.abortSending();
    await this.compose({ deviceId, session, body: "", cancels: id });
  }

  /** Cancels those of an earlier page whose cancellation it could not store. */
  async cancelRest(messages: readonly Message[]): Promise<void> {
    for (const message of messages) {
      const isOpen = message.cancelled && !messages.some(({ cancels }) => cancels === message.id);
      if (isOpen) await this.cancel(message, { edit: message.editing === true });
    }
  }

  /** Taken from the page's state first: the outbox must not send it meanwhile. */
  async discard(id: string): Promise<void> {
    this.#options.store.dispatch({ type: "discarded", id });
    await this.#options.outboxStore.remove(id);
  }
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** After its time, a message may wait this long for its host or for a dialog. */
const AFTER_MS = HOUR_MS;

/** The furthest time that can be chosen: the message must not expire before it. */
export const LATER_MAX_MS = TTL_MAX_SECONDS * 1_000 - AFTER_MS - 60_000;

export interface SendOptions {
  /** Type it even while the local user types. */
  sendAnyway?: boolean;
  later?: Later;
  /** When the agent's usage limit resets, if that is known. */
  resetsAt?: number | undefined;
  /** The text is not what is in the field. */
  keepsDraft?: boolean;
  /** The message whose text this is. */
  again?: string;
}

/** A message that waits for the agent waits for a day, or until an hour after its limit resets. `now`: the relay's clock. */
export function laterTtlSeconds(
  later: Later,
  { now, resetsAt }: { now: number; resetsAt?: number | undefined },
): number {
  const until = later.kind === "at"
    ? later.at + AFTER_MS
    : Math.max(now + DAY_MS, later.kind === "reset" && resetsAt !== undefined ? resetsAt + AFTER_MS : 0);
  return Math.min(TTL_MAX_SECONDS, Math.max(60, Math.ceil((until - now) / 1_000)));
}
