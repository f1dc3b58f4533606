/** What the user does with messages of this phone: composed, edited, cancelled, discarded, sent again. */
import type { Clock } from "../async/clock.ts";
import { randomUuid } from "../async/encodings.ts";
import type { LiveRelay } from "./live_relay.ts";
import type { Message } from "./message.ts";
import type { OutboxStore } from "./outbox.ts";
import type { Store } from "./state.ts";
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
    const { store, outboxStore, clock, live } = this.#options;
    const entry = { id: randomUuid(), ...content, createdAt: clock.now() + store.get().clockOffsetMs };
    const stored = outboxStore.put(entry);
    const progress = { kind: "outbox", unsaved: true } as const;
    store.dispatch({ type: "composed", message: { ...entry, fromHere: true, progress } });
    await stored;
    store.dispatch({ type: "saved", id: entry.id });
    await live()?.pump();
  }

  /** Sends one that the relay did not accept once more. */
  async retry({ id }: Message): Promise<void> {
    this.#options.store.dispatch({ type: "retried", id });
    await this.#options.live()?.pump();
  }

  /** Its text becomes the draft once it is certain that it will not be typed. */
  async edit(message: Message): Promise<void> {
    const { progress } = message;
    const isOver = progress.kind === "failed" || (progress.kind === "taken" && progress.receipt.final);
    if (isOver) return this.#options.store.dispatch({ type: "edited", message });
    await this.cancel(message, { edit: true });
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
