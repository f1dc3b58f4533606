/** What the user does with messages of this phone: composed, edited, cancelled, discarded, sent again. */
import type { Clock } from "../async/clock.ts";
import { randomUuid } from "../async/encodings.ts";
import type { LiveRelay } from "./live_relay.ts";
import type { Message } from "./message.ts";
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
  async compose(content: Partial<OutboxEntry> & Omit<OutboxEntry, "id" | "createdAt">): Promise<void> {
    const { store } = this.#options;
    const entry = { id: randomUuid(), ...content, createdAt: this.#nextTime() };
    const progress = { kind: "outbox", unsaved: true } as const;
    store.dispatch({ type: "composed", message: { ...entry, fromHere: true, progress } });
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
    await this.#send(entryOf({ ...message, progress: { kind: "outbox" } }));
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
    if (edit && cancelled !== undefined) await outboxStore.replace(cancelled);
    else await outboxStore.remove(id);
    live()?.abortSending();
    await this.compose({ deviceId, session, body: "", cancels: id });
  }

  /** Taken from the page's state first: the outbox must not send it meanwhile. */
  async discard(id: string): Promise<void> {
    this.#options.store.dispatch({ type: "discarded", id });
    await this.#options.outboxStore.remove(id);
  }
}
