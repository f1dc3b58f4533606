/** The messages that the phone keeps until it knows that the relay has them, by whichever way it learns that. */
import type { OutboxEntry } from "./account.ts";
import type { Message } from "./message.ts";
import type { PhoneStorage } from "./storage.ts";

export class KeptMessages {
  readonly #storage: PhoneStorage;
  readonly #ids = new Set<string>();

  constructor(storage: PhoneStorage) {
    this.#storage = storage;
  }

  /** What an earlier page left. */
  async restore(): Promise<Message[]> {
    const entries = await this.#storage.readOutbox();
    for (const { id } of entries) this.#ids.add(id);
    return entries.map((entry) => ({ ...entry, fromHere: true, progress: { kind: "outbox" } }));
  }

  /** Resolves once the entry would survive a reload. */
  async put(entry: OutboxEntry): Promise<void> {
    this.#ids.add(entry.id);
    await this.#storage.putOutbox(entry);
  }

  async remove(id: string): Promise<void> {
    if (this.#ids.delete(id)) await this.#storage.removeOutbox(id);
  }

  /** Forgets those that the relay has: its answer, a live receipt or the history said so. */
  async sweep(messages: ReadonlyMap<string, Message>): Promise<void> {
    const done = [...this.#ids].filter((id) => messages.get(id)?.progress.kind === "taken");
    await Promise.all(done.map((id) => this.remove(id)));
  }
}
