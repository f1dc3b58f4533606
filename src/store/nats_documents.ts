/** JSON documents in a stream, one for each subject, changed by decisions that are applied atomically. */
import { delay, systemClock } from "../async/clock.ts";
import { backoffMs } from "../async/retry.ts";
import type { Entry, NatsStream } from "./nats_streams.ts";
import { StoreUnavailable } from "./store.ts";

/** How often a change is decided again because another node was faster. */
const ATTEMPTS = 120;
/** A write that nobody has seen for so long was lost: the server that took it stopped before the others had it. */
const LOST_MS = 5_000;
const BACKOFF = { minMs: 4, maxMs: 200 };
/** Changes waiting for one document; more are refused. */
const WAITING_MAX = 20_000;

interface Change<V> {
  work(value: V): unknown;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

type Outcome = { result: unknown } | { error: unknown };

interface DocumentsOptions<V> {
  stream: NatsStream;
  /** The value of a subject that has no message. */
  empty(): V;
  /** What followers of the stream see of a value. */
  note?(value: V): string;
}

/** `V` consists of plain JSON values. */
export class Documents<V> {
  readonly #options: DocumentsOptions<V>;
  readonly #waiting = new Map<string, Change<V>[]>();

  constructor(options: DocumentsOptions<V>) {
    this.#options = options;
  }

  async get(subject: string): Promise<V | undefined> {
    const entry = await this.#options.stream.get(subject);
    return entry && parse<V>(entry);
  }

  /** All documents whose subject matches. */
  async list(filter: string): Promise<{ subject: string; seq: number; value: V }[]> {
    const entries = await this.#options.stream.list(filter);
    return entries.map((entry) => ({ subject: entry.subject, seq: entry.seq, value: parse<V>(entry) }));
  }

  /**
   * Calls `work` with the newest value, which it may alter, and stores what it left. It is called again when another node
   * was faster, and must have no other effect. Changes of one document that wait together share one write.
   */
  change<T>(subject: string, work: (value: V) => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const change: Change<V> = { work, resolve: resolve as (result: unknown) => void, reject };
      const waiting = this.#waiting.get(subject);
      if (waiting === undefined) {
        this.#waiting.set(subject, [change]);
        queueMicrotask(() => void this.#run(subject));
      } else if (waiting.length < WAITING_MAX) waiting.push(change);
      else reject(new StoreUnavailable("Cannot use the store: too many changes are waiting for NATS"));
    });
  }

  async #run(subject: string): Promise<void> {
    for (;;) {
      const batch = this.#waiting.get(subject) ?? [];
      if (batch.length === 0) break;
      this.#waiting.set(subject, []);
      await this.#apply(subject, batch);
    }
    this.#waiting.delete(subject);
  }

  async #apply(subject: string, batch: readonly Change<V>[]): Promise<void> {
    try {
      const outcomes = await this.#write(subject, batch);
      for (const [index, outcome] of outcomes.entries()) {
        if ("error" in outcome) batch[index]?.reject(outcome.error);
        else batch[index]?.resolve(outcome.result);
      }
    } catch (error) {
      for (const change of batch) change.reject(error);
    }
  }

  async #write(subject: string, batch: readonly Change<V>[]): Promise<Outcome[]> {
    const { stream, empty, note } = this.#options;
    let seen: { seq: number | undefined; since: number } | undefined;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (attempt > 0) await delay(backoffMs(attempt, BACKOFF), { clock: systemClock });
      const entry = await stream.get(subject);
      if (seen === undefined || seen.seq !== entry?.seq) {
        seen = { seq: entry?.seq, since: systemClock.elapsed() };
      }
      const round = Math.floor((systemClock.elapsed() - seen.since) / LOST_MS);
      const before = entry?.text ?? JSON.stringify(empty());
      const value = JSON.parse(before) as V;
      const outcomes = batch.map((change) => outcomeOf(change, value));
      const text = JSON.stringify(value);
      if (text === before) return outcomes;
      const options = {
        expected: entry?.seq ?? 0,
        round,
        ...(note === undefined ? {} : { note: note(value) }),
      };
      if (await stream.put(subject, text, options) !== undefined) return outcomes;
    }
    throw new StoreUnavailable("Cannot use the store: other nodes change the same document all the time");
  }
}

/** A decision that throws must not have altered the value. */
function outcomeOf<V>({ work }: Change<V>, value: V): Outcome {
  try {
    return { result: work(value) };
  } catch (error) {
    return { error };
  }
}

function parse<V>({ text }: Entry): V {
  return JSON.parse(text) as V;
}
