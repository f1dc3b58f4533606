/** What every part of the SQLite store shares: the connection, batched writes, and SQLite's errors. */
import type { Database } from "../runtime/sqlite.ts";
import { StoreUnavailable } from "./store.ts";

/** Writes waiting for their commit; more are refused. */
export const WRITES_WAITING_MAX = 20_000;

export interface SqliteContext {
  database: Database;
  /** Resolves once the write survives a power cut. */
  write<T>(work: () => T): Promise<T>;
  /** Resolves once the write survives a crash of this process: for data that can be requested again. */
  writeUnsynced<T>(work: () => T): Promise<T>;
  /** Reads immediately: no transaction stays open between two turns of the event loop. */
  read<T>(work: () => T): Promise<T>;
}

export function sqliteContext(database: Database, batch: WriteBatch): SqliteContext {
  return {
    database,
    write: (work) => batch.run(work, "synced"),
    writeUnsynced: (work) => batch.run(work, "written"),
    read(work) {
      try {
        return Promise.resolve(work());
      } catch (error) {
        return Promise.reject(storeError(error));
      }
    },
  };
}

/** A column that may be NULL. */
export function optional<T>(value: T | null): T | undefined {
  return value ?? undefined;
}

/** SQLite errors are recognized by message, because one of the runtimes gives no code. */
const UNAVAILABLE =
  /database (table )?is locked|disk is full|disk I\/O error|readonly database|unable to open|malformed|not a database|database is not open|statement has been finalized/i;

/** Returns StoreUnavailable for errors caused by the disk or another program, and any other error unchanged. */
export function storeError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StoreUnavailable) return error;
  if (!UNAVAILABLE.test(error.message)) return error;
  // A full disk is an I/O error for some of SQLite's files.
  const hint = /disk I\/O error/i.test(error.message) ? "; the disk may be full or failing" : "";
  return new StoreUnavailable(`Cannot use the store: ${error.message}${hint}`, { cause: error });
}

/**
 * What a completed write survives: `synced` survives a power cut; `written` survives the process, and is synced together
 * with the next synced write.
 */
type Durability = "synced" | "written";

const SYNCHRONOUS: Record<Durability, string> = {
  synced: "PRAGMA synchronous = FULL",
  written: "PRAGMA synchronous = NORMAL",
};

interface Write {
  work(): unknown;
  durability: Durability;
  resolve(value: unknown): void;
  reject(error: unknown): void;
  result?: unknown;
}

interface WriteBatchOptions {
  /** Runs its argument after pending input has been read. */
  schedule: (flush: () => void) => void;
}

const REMOVED =
  "Cannot use the store: its file relay.db was removed or replaced while the relay runs. Stop the relay, put a copy made by svc server backup in its place, and start it again";

/** Commits the writes of one turn in one transaction, with one wait for the disk. */
export class WriteBatch {
  readonly #database: Database;
  readonly #schedule: (flush: () => void) => void;
  #waiting: Write[] = [];
  #mode: Durability | undefined;
  /** The disk or another program made a write fail; reset by a check that the store can be written again. */
  hasFailed = false;

  constructor(database: Database, options: WriteBatchOptions) {
    this.#database = database;
    this.#schedule = options.schedule;
  }

  /** Resolves with what `work` returned once it is durable. `work` may run twice and must only touch the database. */
  run<T>(work: () => T, durability: Durability): Promise<T> {
    if (this.#waiting.length >= WRITES_WAITING_MAX) {
      return Promise.reject(
        new StoreUnavailable("Cannot use the store: too many writes are waiting for the disk"),
      );
    }
    if (this.#waiting.length === 0) this.#schedule(() => this.flush());
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, durability, resolve: resolve as (value: unknown) => void, reject });
    });
  }

  /** Commits the waiting writes now. */
  flush(): void {
    const writes = this.#waiting;
    this.#waiting = [];
    const failure = this.#commit(writes);
    if (failure === undefined) return resolveAll(writes);
    const error = storeError(failure.error);
    this.hasFailed ||= error instanceof StoreUnavailable;
    if (writes.length > 1 && !(error instanceof StoreUnavailable)) return this.#commitEach(writes);
    for (const write of writes) write.reject(error);
  }

  /** Commits each write alone, so that one failing write does not fail the others. */
  #commitEach(writes: readonly Write[]): void {
    for (const write of writes) {
      const failure = this.#commit([write]);
      if (failure === undefined) {
        write.resolve(write.result);
        continue;
      }
      const error = storeError(failure.error);
      this.hasFailed ||= error instanceof StoreUnavailable;
      write.reject(error);
    }
  }

  #commit(writes: readonly Write[]): { error: unknown } | undefined {
    if (writes.length === 0) return undefined;
    let begun = false;
    try {
      if (!this.#database.isInPlace()) throw new StoreUnavailable(REMOVED);
      this.#setMode(writes.some(({ durability }) => durability === "synced") ? "synced" : "written");
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

  #setMode(mode: Durability): void {
    if (mode === this.#mode) return;
    this.#database.exec(SYNCHRONOUS[mode]);
    this.#mode = mode;
  }

  /** SQLite rolls back by itself on some failures; ROLLBACK then fails with "no transaction is active". */
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
