/** The user's actions on messages of this phone: compose, schedule, edit, cancel, discard, resend. */
import type { Clock } from "../async/clock.ts";
import { randomUuid } from "../async/encodings.ts";
import type { Later } from "../protocol/push.ts";
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

  /** By the relay's clock, as far as it is known, but after every unsent message: messages are sent in this order. */
  #nextTime(): number {
    const { store, clock } = this.#options;
    const last = outboxOf(store.get()).at(-1)?.createdAt ?? 0;
    return Math.max(relayNow(store.get(), clock.now()), last + 1);
  }

  /** Retries a message that the relay rejected. */
  async retry(message: Message): Promise<void> {
    this.#options.store.dispatch({ type: "retried", id: message.id });
    await this.#send(entryOf(unsent(message)));
  }

  /** Stores the entry, marks it as saved once it survives a reload, and sends it. */
  async #send(entry: OutboxEntry): Promise<void> {
    const { store, outboxStore, live } = this.#options;
    if (await outboxStore.put(entry)) store.dispatch({ type: "saved", id: entry.id });
    await live()?.pump();
  }

  /** Moves the text to the draft once it is certain that the message will not be typed. */
  async edit(message: Message): Promise<void> {
    const { id, progress } = message;
    const isFailed = progress.kind === "failed";
    const isOver = isFailed || (progress.kind === "taken" && progress.receipt.final);
    if (!isOver) return await this.cancel(message, { edit: true });
    this.#options.store.dispatch({ type: "edited", message });
    if (isFailed) await this.discard(id);
  }

  /** Cancels a message, unless its typing has begun. One that never left this phone is removed at once. */
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
    // Losing the text is better than sending it after a reload.
    if (!isNoted && !edit) await outboxStore.remove(id);
    live()?.abortSending();
    await this.compose({ deviceId, session, body: "", cancels: id });
  }

  /** Repeats the cancellations that an earlier page could not store. */
  async cancelRest(messages: readonly Message[]): Promise<void> {
    for (const message of messages) {
      const isOpen = message.cancelled && !messages.some(({ cancels }) => cancels === message.id);
      if (isOpen) await this.cancel(message, { edit: message.editing === true });
    }
  }

  /** Removes the message from the page's state first, so that the outbox does not send it meanwhile. */
  async discard(id: string): Promise<void> {
    this.#options.store.dispatch({ type: "discarded", id });
    await this.#options.outboxStore.remove(id);
  }
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** After its time, a message may wait this long for its host or for a dialog. */
const AFTER_MS = HOUR_MS;

/** How far ahead a message can be scheduled: it must not expire before its time. */
export const LATER_MAX_MS = TTL_MAX_SECONDS * 1_000 - AFTER_MS - 60_000;

export interface SendOptions {
  /** Type it even while the local user types. */
  sendAnyway?: boolean;
  later?: Later;
  /** When the agent's usage limit resets, if that is known. */
  resetsAt?: number | undefined;
  /** Keeps the draft: the text does not come from the field. */
  keepsDraft?: boolean;
  /** The id of the message whose text this one repeats. */
  again?: string;
}

/**
 * How long a scheduled message may wait: until an hour after its time; if it waits for the agent, for a day, or until
 * an hour after the agent's limit resets if that is later. `now`: the relay's clock.
 */
export function laterTtlSeconds(
  later: Later,
  { now, resetsAt }: { now: number; resetsAt?: number | undefined },
): number {
  const until = later.kind === "at"
    ? later.at + AFTER_MS
    : Math.max(now + DAY_MS, later.kind === "reset" && resetsAt !== undefined ? resetsAt + AFTER_MS : 0);
  return Math.min(TTL_MAX_SECONDS, Math.max(60, Math.ceil((until - now) / 1_000)));
}
