/** The journal of injections: what has happened to each push, on the disk before it goes on, so that no crash types one twice. */
import type { AppendFile, Files } from "../runtime/types.ts";
import { decodeEntries, encodeEntry, type JournalEntry } from "./journal_lines.ts";

/** Longer than the longest ttl of a push (7 days): until then the relay may send it again. */
export const JOURNAL_RETENTION_MS = 8 * 24 * 3_600_000;
/** The pushes that are remembered at most, and apart from them those that paired phones sealed; the oldest go first. */
export const JOURNAL_PUSHES_MAX = 50_000;
/** The file is rewritten after so many appended lines. */
export const JOURNAL_COMPACT_LINES = 10_000;

type WithoutKey<E> = E extends unknown ? Omit<E, "id" | "at" | "sealed"> : never;
/** A step as the listener records it: `{step: "typing"}`, `{step: "done", outcome, reason}`. */
export type JournalStep = WithoutKey<JournalEntry>;

export interface JournalOptions {
  files: Files;
  path: string;
  /** Epoch milliseconds. */
  now: () => number;
  pushesMax?: number;
}

/** Reads what a former run left and compacts it. Damaged lines are skipped and counted. */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  const { entries, damaged } = decodeEntries(await options.files.readText(options.path) ?? "");
  const journal = new Journal(options, { entries, damaged });
  await journal.compact();
  return journal;
}

export class Journal {
  /** Lines of the file that were cut or overwritten. */
  readonly damaged: number;
  readonly #options: JournalOptions;
  /** The last step of each push, the one recorded longest ago first. */
  readonly #last = new Map<string, JournalEntry>();
  /** The same of those that paired phones sealed. */
  readonly #sealed = new Map<string, JournalEntry>();
  #file: AppendFile | undefined;
  #appended = 0;
  /** A full disk may have taken a part of the last line: the next one must not be joined to it. */
  #isTorn = false;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: JournalOptions, found: { entries: readonly JournalEntry[]; damaged: number }) {
    this.#options = options;
    this.damaged = found.damaged;
    for (const entry of found.entries) this.#remember(entry);
  }

  /** The last step of this push. After a crash `typing` or `typed` means that nobody knows whether it was submitted. */
  state(id: string): JournalEntry | undefined {
    return this.#sealed.get(id) ?? this.#last.get(id);
  }

  /** The push turned out to be sealed by a paired phone; its next step says so on the disk. */
  keepSealed(id: string): void {
    if (this.#sealed.has(id)) return;
    const entry = this.#last.get(id) ?? { id, at: this.#options.now(), step: "accepted" };
    this.#remember({ ...entry, sealed: true });
  }

  /** Pushes whose last step is not `done`. */
  unfinished(): JournalEntry[] {
    return this.#entries().filter((entry) => entry.step !== "done");
  }

  /** Resolves once the step is on the disk. Throws when it cannot be written: then `accepted` and `typing` must not be acted on. */
  async record(id: string, step: JournalStep): Promise<void> {
    const sealed = this.#sealed.has(id) ? { sealed: true as const } : {};
    const entry: JournalEntry = { id, at: this.#options.now(), ...step, ...sealed };
    const hasHappened = entry.step === "typed" || entry.step === "done";
    if (hasHappened) this.#remember(entry);
    await this.#inTurn(() => this.#append(encodeEntry(entry)));
    if (!hasHappened) this.#remember(entry);
    if (this.#appended >= JOURNAL_COMPACT_LINES) await this.compact();
  }

  /** Rewrites the file with the last step of each push that is still remembered: readers see the old or the new file. */
  async compact(): Promise<void> {
    await this.#inTurn(async () => {
      const { files, path } = this.#options;
      this.#forget();
      const text = this.#entries().map(encodeEntry).join("");
      await files.replaceText(path, text, { mode: 0o600 });
      this.#file?.close();
      this.#file = undefined;
      this.#appended = 0;
      this.#isTorn = false;
    });
  }

  async close(): Promise<void> {
    await this.#inTurn(() => {
      this.#file?.close();
      this.#file = undefined;
      return Promise.resolve();
    });
  }

  async #append(line: string): Promise<void> {
    const { files, path } = this.#options;
    this.#file ??= await files.openAppend(path, { mode: 0o600 });
    const text = this.#isTorn ? `\n${line}` : line;
    this.#isTorn = true;
    await this.#file.append(text);
    await this.#file.sync();
    this.#isTorn = false;
    this.#appended++;
  }

  #entries(): JournalEntry[] {
    return [...this.#sealed.values(), ...this.#last.values()];
  }

  #remember(entry: JournalEntry): void {
    this.#last.delete(entry.id);
    this.#sealed.delete(entry.id);
    const entries = entry.sealed ? this.#sealed : this.#last;
    entries.set(entry.id, entry);
    if (entries.size <= (this.#options.pushesMax ?? JOURNAL_PUSHES_MAX)) return;
    const [oldest] = entries.keys();
    if (oldest !== undefined) entries.delete(oldest);
  }

  #forget(): void {
    const limit = this.#options.now() - JOURNAL_RETENTION_MS;
    for (const entries of [this.#sealed, this.#last]) {
      for (const [id, entry] of entries) if (entry.at < limit) entries.delete(id);
    }
  }

  /** One write after the other; a failed one does not hold up the next. */
  #inTurn(action: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(action);
    this.#turn = done.catch(() => {});
    return done;
  }
}
