/** Commits the writes that came together in one transaction: one wait for the disk serves them all. */
import type { Database } from "../runtime/sqlite.ts";
import { storeError } from "./sqlite_errors.ts";
import { StoreUnavailable } from "./store.ts";

/** Writes that wait for their commit; beyond it the store says no. */
export const WRITES_WAITING_MAX = 20_000;

/**
 * How long a write must last once it is said to be done: `synced` outlives a power cut; `written` outlives the process
 * and is synced with the next write that is, so that nobody waits for the disk on behalf of what can be asked for again.
 */
export type Lasting = "synced" | "written";

const SYNCHRONOUS: Record<Lasting, string> = {
  synced: "PRAGMA synchronous = FULL",
  written: "PRAGMA synchronous = NORMAL",
};

interface Write {
  work(): unknown;
  lasting: Lasting;
  resolve(value: unknown): void;
  reject(error: unknown): void;
  result?: unknown;
}

export interface WriteBatchOptions {
  /** Runs its argument once what is ready to be read has been read. */
  schedule: (flush: () => void) => void;
}

export class WriteBatch {
  readonly #database: Database;
  readonly #schedule: (flush: () => void) => void;
  #waiting: Write[] = [];
  #mode: Lasting | undefined;

  constructor(database: Database, options: WriteBatchOptions) {
    this.#database = database;
    this.#schedule = options.schedule;
  }

  /** Resolves with what `work` returned, once it lasts. `work` may run twice and only touches the database. */
  run<T>(work: () => T, lasting: Lasting): Promise<T> {
    if (this.#waiting.length >= WRITES_WAITING_MAX) {
      return Promise.reject(new StoreUnavailable("Cannot use the store: too many writes wait for the disk"));
    }
    if (this.#waiting.length === 0) this.#schedule(() => this.flush());
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, lasting, resolve: resolve as (value: unknown) => void, reject });
    });
  }

  /** Commits what waits, now. */
  flush(): void {
    const writes = this.#waiting;
    this.#waiting = [];
    const failure = this.#commit(writes);
    if (failure === undefined) return resolveAll(writes);
    const error = storeError(failure.error);
    if (writes.length > 1 && !(error instanceof StoreUnavailable)) return this.#commitEach(writes);
    for (const write of writes) write.reject(error);
  }

  /** One write that is wrong must not take the others with it. */
  #commitEach(writes: readonly Write[]): void {
    for (const write of writes) {
      const failure = this.#commit([write]);
      if (failure === undefined) write.resolve(write.result);
      else write.reject(storeError(failure.error));
    }
  }

  #commit(writes: readonly Write[]): { error: unknown } | undefined {
    if (writes.length === 0) return undefined;
    let begun = false;
    try {
      this.#setMode(writes.some(({ lasting }) => lasting === "synced") ? "synced" : "written");
      this.#database.exec("BEGIN IMMEDIATE");
      begun = true;
      for (const write of writes) write.result = write.work();
      this.#database.exec("COMMIT");
      return undefined;
    } catch (error) {
      if (begun) this.#rollBack();
      return { error };
    }
  }

  #setMode(mode: Lasting): void {
    if (mode === this.#mode) return;
    this.#database.exec(SYNCHRONOUS[mode]);
    this.#mode = mode;
  }

  /** SQLite rolls back by itself on some failures, and then says that there is nothing to roll back. */
  #rollBack(): void {
    try {
      this.#database.exec("ROLLBACK");
    } catch (error) {
      if (!(error instanceof Error) || !error.message.includes("no transaction is active")) throw error;
    }
  }
}

function resolveAll(writes: readonly Write[]): void {
  for (const write of writes) write.resolve(write.result);
}
