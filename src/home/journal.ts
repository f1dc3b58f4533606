/** The journal of injections: a step is on the disk before it is acted on, so that no crash types a message twice. */
import * as z from "zod/mini";
import { utf8Length } from "../async/encodings.ts";
import { Mutex } from "../async/mutex.ts";
import { ReplayWindow } from "../crypto/replay_window.ts";
import { parseJson } from "../protocol/json.ts";
import { maxLength } from "../protocol/lengths.ts";
import { PushId } from "../protocol/push.ts";
import { PushState } from "../protocol/receipt.ts";
import { asideOf, keepAside } from "./damage.ts";
import { crc32Hex } from "../runtime/digest.ts";
import type { AppendFile, Files } from "../runtime/types.ts";

/** Longer than the longest ttl of a push (7 days): until then the relay may send it again. */
export const JOURNAL_RETENTION_MS = 8 * 24 * 3_600_000;
/** This many of the latest are kept at any age, since a clock may have been set; more than the relay has in flight. */
export const JOURNAL_LATEST = 1_000;
/** At most this many pushes are kept, and as many again that paired phones sealed; the oldest are dropped first. */
export const JOURNAL_PUSHES_MAX = 50_000;
/** At most this many refusals of pushes that could not be opened are promised to be kept; further ones get no proof. */
export const JOURNAL_PROMISES_MAX = 10_000;
/** The counters of at most this many pairings are kept; the least recently used is dropped first. */
export const JOURNAL_PAIRINGS_MAX = 1_000;
/** The file is rewritten after this many appended lines. */
export const JOURNAL_COMPACT_LINES = 10_000;

type WithoutKey<E> = E extends unknown ? Omit<E, "id" | "at" | "sealed" | "promised"> : never;
/** A step as the listener records it: `{step: "typing"}`, `{step: "done", outcome, reason}`. */
export type JournalStep = WithoutKey<JournalEntry>;

export interface JournalOptions {
  files: Files;
  path: string;
  /** Epoch milliseconds. */
  now: () => number;
  pushesMax?: number;
  promisesMax?: number;
}

/**
 * Whether a sealed message may be acted on. `used`, `old`: its counter was taken, or is too far behind to know.
 * `uncounted`: it has none, and this pairing has counted before.
 */
export type TakeVerdict = "taken" | "used" | "old" | "uncounted";

/**
 * Reads the journal of the previous run and compacts it. Damaged lines are skipped and counted, and a copy of the file
 * is kept. If nothing can be written, as on a full disk, the file stays as it is, and later steps are appended.
 */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  const journal = new Journal(options, await options.files.readText(options.path) ?? "");
  await journal.compact().catch(() => {});
  return journal;
}

interface WriteOptions {
  /**
   * `false`: resolves once the entry survives the end of this process. It reaches the disk with the next synced entry,
   * which every step that must not be repeated waits for.
   */
  sync?: boolean;
}

interface WaitingEntry {
  entry: JournalEntry;
  /** It is already in memory. */
  isKnown: boolean;
  sync: boolean;
}

export class Journal {
  /** How many lines of the file were truncated or overwritten. */
  readonly damaged: number;
  /** The file's text with those lines, until a copy is kept. */
  #damagedText: string | undefined;
  readonly #options: JournalOptions;
  /** The last step of each push, the oldest record first. */
  readonly #last = new Map<string, JournalEntry>();
  /** The same for pushes that paired phones sealed. */
  readonly #sealed = new Map<string, JournalEntry>();
  /** The same for pushes whose refusal was promised. */
  readonly #promised = new Map<string, JournalEntry>();
  /** Pushes whose last step could not be written yet: it is written with the next entry. */
  readonly #unwritten = new Set<string>();
  /** By pairing, the least recently used first. */
  readonly #windows = new Map<string, ReplayWindow>();
  #file: AppendFile | undefined;
  #appended = 0;
  /** Bytes that the file has at least. */
  #size = 0;
  /** The last line may be incomplete, as on a full disk: the next one must start on a new line. */
  #isTorn: boolean;
  readonly #mutex = new Mutex();
  /** Entries of the next write, and that write. */
  #waiting: WaitingEntry[] = [];
  #written: Promise<void> | undefined;

  /** `text`: the file's content. */
  constructor(options: JournalOptions, text: string) {
    const found = decodeEntries(text);
    this.#options = options;
    this.damaged = found.damaged;
    if (found.damaged > 0) this.#damagedText = text;
    this.#isTorn = text !== "" && !text.endsWith("\n");
    for (const { pairing, ...text } of found.windows) {
      const window = ReplayWindow.decode(text);
      if (window !== undefined) this.#windows.set(pairing, window);
    }
    for (const entry of found.entries) {
      this.#remember(entry);
      if (typeof entry.sealed === "object") this.#count(entry.sealed);
    }
  }

  /** A line for the log; undefined when every line was intact. */
  get damage(): string | undefined {
    const { path } = this.#options;
    if (this.damaged === 0) return undefined;
    return `"${path}": ${this.damaged} damaged line(s) skipped. As it was: "${asideOf(path)}"`;
  }

  /** The last step of this push. After a crash, `typing` or `typed` means that it may have been submitted. */
  state(id: string): JournalEntry | undefined {
    return this.#sealed.get(id) ?? this.#promised.get(id) ?? this.#last.get(id);
  }

  /**
   * Takes the counter of a push that a paired phone sealed, permanently: resolves once that is on the disk, and throws
   * when it cannot be written. The same push may be taken again; `state` shows whether it was typed or answered.
   */
  async take(id: string, seal: PhoneSeal, { sync = true }: WriteOptions = {}): Promise<TakeVerdict> {
    const { pairing, counter } = seal;
    const before = this.#sealed.get(id);
    if (before !== undefined && isSameSeal(before.sealed, seal)) {
      if (this.#unwritten.has(id)) await this.#write({ entry: before, isKnown: true, sync });
      return "taken";
    }
    const window = this.#windows.get(pairing);
    if (counter === undefined && window !== undefined) return "uncounted";
    const verdict = counter === undefined ? "fresh" : window?.check(counter) ?? "fresh";
    if (verdict !== "fresh") return verdict;
    this.#count(seal);
    const entry: JournalEntry = { id, at: this.#options.now(), step: "accepted", sealed: seal };
    this.#remember(entry);
    await this.#write({ entry, isKnown: true, sync });
    return "taken";
  }

  /**
   * Records the refusal of a push that could not be opened. True if the refusal is kept until the message expires, so
   * that a copy that can be opened is not typed either.
   */
  promise(id: string): boolean {
    if (this.#sealed.has(id) || this.#promised.has(id)) return true;
    if (this.#promised.size >= (this.#options.promisesMax ?? JOURNAL_PROMISES_MAX)) return false;
    const entry = this.#last.get(id) ?? { id, at: this.#options.now(), step: "accepted" };
    this.#remember({ ...entry, promised: true });
    return true;
  }

  /** Whether the outcome of this push is kept, whatever else is sent, by the next listener as well. */
  isLasting(id: string): boolean {
    return !this.#unwritten.has(id) && (this.#sealed.has(id) || this.#promised.has(id));
  }

  /** Pushes whose last step is not `done`. */
  unfinished(): JournalEntry[] {
    return this.#entries().filter((entry) => entry.step !== "done");
  }

  /**
   * Resolves once the step is on the disk. Throws if it cannot be written: `accepted`, `typing` and `left` must then
   * not be acted on. `accepted` after `typing`: nothing was typed after all. `isSealed`: a paired phone caused the step.
   */
  async record(
    id: string,
    step: JournalStep,
    { isSealed = false, sync = true }: WriteOptions & { isSealed?: boolean } = {},
  ): Promise<void> {
    const before = this.state(id);
    const { sealed = isSealed, promised } = before ?? {};
    const kept = { ...(sealed ? { sealed } : {}), ...(promised ? { promised } : {}) };
    const entry: JournalEntry = { id, at: this.#options.now(), ...step, ...kept };
    if (entry.step !== "typing" && isTyped(entry) && before !== undefined && isTyped(before)) {
      entry.emptyAt ??= before.emptyAt;
      entry.shown ??= before.shown;
    }
    const isTakenBack = entry.step === "accepted" && before?.step === "typing";
    const hasHappened = entry.step === "typed" || entry.step === "done" || isTakenBack;
    if (hasHappened) this.#remember(entry);
    await this.#write({ entry, isKnown: hasHappened, sync });
  }

  /** Rewrites the file with the last step of each remembered push. Readers see the old or the new file. */
  async compact(): Promise<void> {
    await this.#mutex.run(() => this.#rewrite());
  }

  async close(): Promise<void> {
    await this.#mutex.run(async () => {
      if (this.#unwritten.size > 0) await this.#append([]).catch(() => {});
      else if (!await this.#isInPlace()) await this.#rewrite().catch(() => {});
      this.#file?.close();
      this.#file = undefined;
    });
  }

  /** False if the user removed, replaced or cut the file: it is rewritten, so that the next start forgets nothing. */
  async #isInPlace(): Promise<boolean> {
    const { files, path } = this.#options;
    const size = this.#file === undefined ? (await files.info(path))?.size : await this.#file.sizeInPlace();
    return size !== undefined && size >= this.#size;
  }

  async #rewrite(): Promise<void> {
    const { files, path } = this.#options;
    if (this.#damagedText !== undefined) await keepAside(files, { path, text: this.#damagedText });
    this.#damagedText = undefined;
    this.#forget();
    const text = [...this.#windowEntries(), ...this.#entries()].map(encodeEntry).join("");
    await files.replaceText(path, text, { mode: 0o600 });
    this.#file?.close();
    this.#file = undefined;
    this.#file = await files.openAppend(path, { mode: 0o600 });
    this.#appended = 0;
    this.#size = utf8Length(text);
    this.#isTorn = false;
    this.#unwritten.clear();
  }

  /** Entries that are recorded while the disk is busy are written together. */
  #write(entry: WaitingEntry): Promise<void> {
    this.#waiting.push(entry);
    return this.#written ??= this.#mutex.run(async () => {
      // Lets `#written` be set first.
      await Promise.resolve();
      this.#written = undefined;
      await this.#append(this.#waiting.splice(0));
    });
  }

  async #append(waiting: readonly WaitingEntry[]): Promise<void> {
    const lateIds = [...this.#unwritten].slice(0, JOURNAL_LATEST);
    const late = lateIds.flatMap((id) => this.state(id) ?? []);
    for (const { entry: { id }, isKnown } of waiting) if (isKnown) this.#unwritten.add(id);
    if (this.#file === undefined && !await this.#isInPlace()) await this.#rewrite();
    const lines = [...late, ...waiting.map(({ entry }) => entry)].map(encodeEntry).join("");
    const sync = late.length > 0 || waiting.some((one) => one.sync);
    if (!await this.#appendLines(lines, sync)) {
      await this.#rewrite();
      await this.#appendLines(lines, sync);
    }
    for (const id of [...lateIds, ...waiting.map(({ entry }) => entry.id)]) this.#unwritten.delete(id);
    this.#appended += waiting.length;
    // Before a rewrite, which writes only the entries in memory.
    for (const { entry, isKnown } of waiting) if (!isKnown) this.#remember(entry);
    // The steps are on the disk. If it is too full for a rewrite, the next write tries again.
    if (this.#appended >= JOURNAL_COMPACT_LINES) await this.#rewrite().catch(() => {});
  }

  /** Whether the lines are in the file that the next start reads. Checked while the disk syncs. */
  async #appendLines(lines: string, sync: boolean): Promise<boolean> {
    const { files, path } = this.#options;
    const file = this.#file ??= await files.openAppend(path, { mode: 0o600 });
    const text = this.#isTorn ? `\n${lines}` : lines;
    this.#isTorn = true;
    await file.append(text);
    this.#size += utf8Length(text);
    const [isInPlace] = await Promise.all([this.#isInPlace(), sync ? file.sync() : undefined]);
    this.#isTorn = false;
    return isInPlace;
  }

  #entries(): JournalEntry[] {
    return [...this.#sealed.values(), ...this.#promised.values(), ...this.#last.values()];
  }

  #windowEntries(): WindowEntry[] {
    return [...this.#windows].map(([pairing, window]) => ({ step: "window", pairing, ...window.encode() }));
  }

  #count({ pairing, counter }: PhoneSeal): void {
    if (counter === undefined) return;
    const window = this.#windows.get(pairing) ?? ReplayWindow.empty();
    window.take(counter);
    this.#windows.delete(pairing);
    this.#windows.set(pairing, window);
    if (this.#windows.size > JOURNAL_PAIRINGS_MAX) deleteOldest(this.#windows);
  }

  #remember(entry: JournalEntry): void {
    for (const entries of [this.#last, this.#sealed, this.#promised]) entries.delete(entry.id);
    if (entry.promised) return void this.#promised.set(entry.id, entry);
    const entries = entry.sealed ? this.#sealed : this.#last;
    entries.set(entry.id, entry);
    if (entries.size > (this.#options.pushesMax ?? JOURNAL_PUSHES_MAX)) deleteOldestDone(entries);
  }

  /** Ages count from the newest entry: the clock may have been set. An unfinished push may have text in a composer. */
  #forget(): void {
    const newest = this.#entries().reduce((latest, { at }) => Math.max(latest, at), 0);
    for (const entries of [this.#sealed, this.#promised, this.#last]) {
      for (const { id, step, at } of [...entries.values()].slice(0, -JOURNAL_LATEST)) {
        if (step === "done" && newest - at > JOURNAL_RETENTION_MS) entries.delete(id);
      }
    }
  }
}

function isTyped(entry: JournalEntry): entry is Extract<JournalEntry, { step: "typing" | "typed" | "left" }> {
  return entry.step === "typing" || entry.step === "typed" || entry.step === "left";
}

export function isSameSeal(recorded: JournalEntry["sealed"], seal: PhoneSeal): boolean {
  if (typeof recorded !== "object") return seal.counter === undefined;
  return recorded.pairing === seal.pairing && recorded.counter === seal.counter;
}

/** Finished entries are dropped first: an unfinished push without an entry would be reported with the wrong state. */
function deleteOldestDone(entries: Map<string, JournalEntry>): void {
  for (const [id, { step }] of entries) if (step === "done") return void entries.delete(id);
  deleteOldest(entries);
}

function deleteOldest(map: Map<string, unknown>): void {
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}

/** The pairing that a message was sealed under, and its counter. Older versions wrote `true`. */
export const PhoneSeal = z.object({
  /** `pairingId` of the secret. */
  pairing: z.string().check(maxLength(100)),
  counter: z.optional(z.int().check(z.minimum(1))),
});
export type PhoneSeal = z.infer<typeof PhoneSeal>;

const fields = {
  id: PushId,
  at: z.number(),
  /** A paired phone sealed it. Only paired phones can make such pushes, so pushes of others cannot crowd it out. */
  sealed: z.optional(z.union([z.literal(true), PhoneSeal])),
  /** It was refused without being opened, and the phone has the host's proof of that: no other push crowds it out. */
  promised: z.optional(z.literal(true)),
};

const typing = {
  /** When the text was about to be typed into an empty composer, epoch milliseconds. Absent if it held a draft. */
  emptyAt: z.optional(z.number()),
  /** The placeholder for a long paste that showed the text. */
  shown: z.optional(z.string()),
};

/** A step of one push, `at` epoch milliseconds. */
export const JournalEntry = z.discriminatedUnion("step", [
  /** Accepted; nothing was typed. */
  z.object({ ...fields, step: z.literal("accepted") }),
  /** From here on the text may be in the pane. */
  z.object({ ...fields, ...typing, step: z.literal("typing") }),
  /** The text is in the pane; it is unknown whether Enter was sent. */
  z.object({ ...fields, ...typing, step: z.literal("typed") }),
  /** The text is in the pane, and Enter was not pressed: the next listener continues from here. */
  z.object({
    ...fields,
    ...typing,
    step: z.literal("left"),
    /** The message was cancelled: the next listener removes the text instead. */
    isCancelled: z.optional(z.literal(true)),
  }),
  /** Acknowledged; nothing more will happen. */
  z.object({
    ...fields,
    step: z.literal("done"),
    outcome: PushState,
    reason: z.optional(z.string()),
    retryAfterSeconds: z.optional(z.number()),
    agentSessionName: z.optional(z.string()),
  }),
]);
export type JournalEntry = z.infer<typeof JournalEntry>;

/** The used counters of one pairing, including those of pushes that are no longer in the file. */
export const WindowEntry = z.object({
  step: z.literal("window"),
  pairing: z.string(),
  top: z.number(),
  bits: z.string(),
});
export type WindowEntry = z.infer<typeof WindowEntry>;

const AnyEntry = z.discriminatedUnion("step", [...JournalEntry.def.options, WindowEntry]);
type AnyEntry = z.infer<typeof AnyEntry>;

const Line = z.object({ sum: z.string(), entry: z.unknown() });

export function encodeEntry(entry: JournalEntry | WindowEntry): string {
  return `${JSON.stringify({ sum: crc32Hex(JSON.stringify(entry)), entry })}\n`;
}

/**
 * The entries in their order, and the number of damaged lines. A damaged line may be the step `typing` of the push that it
 * names, which is then never typed again.
 */
export function decodeEntries(
  text: string,
): { entries: JournalEntry[]; windows: WindowEntry[]; damaged: number } {
  const lines = text.split("\n").filter((line) => line !== "");
  const last = new Map<string, JournalEntry>();
  const entries: JournalEntry[] = [];
  const windows: WindowEntry[] = [];
  let damaged = 0;
  const add = (entry: JournalEntry): void => {
    entries.push(entry);
    last.set(entry.id, entry);
  };
  for (const line of lines) {
    const found = decodeLine(line);
    if (found?.step === "window") windows.push(found);
    else if (found !== undefined) add(found);
    else {
      damaged++;
      for (const id of maybeTyped(line)) {
        const { at = 0, step, sealed, promised } = last.get(id) ?? {};
        const isOpen = step === undefined || step === "accepted" || step === "left";
        if (isOpen) add({ id, at, step: "typing", ...(sealed && { sealed }), ...(promised && { promised }) });
      }
    }
  }
  return { entries, windows, damaged };
}

/** The end of a whole line. Without it a write was cut off, and its step was not acted on. */
const LINE_END = /\}\}\s*$/;
const NAMED = /"id":"([0-9a-f-]{36})"[^\n]*?(?="id":|$)/g;

/** The pushes that a damaged line names, unless it shows a step in which nothing was typed. */
function maybeTyped(line: string): string[] {
  if (!LINE_END.test(line)) return [];
  return [...line.matchAll(NAMED)].flatMap(([text, id]) =>
    PushId.safeParse(id).success && !text.includes('"step":"accepted"') ? [id ?? ""] : []
  );
}

function decodeLine(text: string): AnyEntry | undefined {
  const line = Line.safeParse(parseJson(text)?.value);
  if (!line.success || crc32Hex(JSON.stringify(line.data.entry)) !== line.data.sum) return undefined;
  const entry = AnyEntry.safeParse(line.data.entry);
  return entry.success ? entry.data : undefined;
}
