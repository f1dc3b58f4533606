/** What every part of the SQLite store works with: the connection, and how to read and write on it. */
import type { Database } from "../runtime/sqlite.ts";
import { storeError } from "./sqlite_errors.ts";
import type { WriteBatch } from "./write_batch.ts";

export interface SqliteContext {
  database: Database;
  /** Resolves once the work outlives a power cut. */
  write<T>(work: () => T): Promise<T>;
  /** Resolves once it outlives this process: for what can be asked for again. */
  writeUnsynced<T>(work: () => T): Promise<T>;
  /** Reads at once: no transaction is open between two turns of the event loop. */
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
