/** SQLite, built into both runtimes: the only importer of `node:sqlite`, which is loaded when a database is opened. */

import { statSync } from "node:fs";
import process from "node:process";
import { setImmediate } from "node:timers";

export type SqlValue = null | number | string | Uint8Array;
export type SqlRow = Record<string, SqlValue>;

/** `Row` is the shape of the statement's rows according to the SQL and the schema; it is not checked. */
export interface Statement<Row = SqlRow> {
  /** Returns how many rows changed. */
  run(...values: SqlValue[]): number;
  get(...values: SqlValue[]): Row | undefined;
  all(...values: SqlValue[]): Row[];
}

export interface Database {
  exec(sql: string): void;
  prepare<Row = SqlRow>(sql: string): Statement<Row>;
  /** Writes a consistent copy to `file` while others read and write; replaces an existing file. */
  backup(file: string): Promise<void>;
  /** False once its file was removed or replaced: what is written then is lost when the database is closed. */
  isInPlace(): boolean;
  close(): void;
}

/** How long a statement waits for another connection's lock, in milliseconds. */
export interface DatabaseOptions {
  busyMs: number;
}

const WARNING = "SQLite is an experimental feature";

/** Drops the warning of Node 22 that SQLite is experimental; other warnings are printed. */
async function loadSqlite(): Promise<typeof import("node:sqlite")> {
  const { emitWarning } = process;
  process.emitWarning = ((warning: string | Error, ...rest: []) => {
    if (!String(warning).includes(WARNING)) emitWarning.call(process, warning, ...rest);
  }) as typeof process.emitWarning;
  try {
    return await import("node:sqlite");
  } finally {
    process.emitWarning = emitWarning;
  }
}

/**
 * Replaces each `?1` by `?` and returns the number of the value for each: Node before 22.20 and 24.7 does not bind
 * numbered parameters. As in SQLite, a plain `?` takes the value after the highest one so far.
 */
export function plainParameters(sql: string): { plain: string; order: number[] } {
  const order: number[] = [];
  const plain = sql.replace(/\?(\d*)/g, (_whole, digits: string) => {
    order.push(digits === "" ? Math.max(0, ...order) + 1 : Number(digits));
    return "?";
  });
  return { plain, order };
}

/** Undefined if there is no such file, as for a database in memory. A removed file keeps its inode while it is open. */
function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

/** Opens or creates the database. Errors are SQLite's own and differ only in their messages. */
export async function openDatabase(path: string, options: DatabaseOptions): Promise<Database> {
  const { backup, DatabaseSync } = await loadSqlite();
  const database = new DatabaseSync(path, { timeout: options.busyMs });
  const made = path === ":memory:" ? undefined : inodeOf(path);
  return {
    exec: (sql) => database.exec(sql),
    prepare<Row>(sql: string): Statement<Row> {
      const { plain, order } = plainParameters(sql);
      const statement = database.prepare(plain);
      const inOrder = (values: SqlValue[]): SqlValue[] => order.map((place) => values[place - 1] ?? null);
      return {
        run: (...values) => Number(statement.run(...inOrder(values)).changes),
        get: (...values) => statement.get(...inOrder(values)) as Row | undefined,
        all: (...values) => statement.all(...inOrder(values)) as Row[],
      };
    },
    backup: async (file) => void await backup(database, file),
    isInPlace: () => made === undefined || inodeOf(path) === made,
    close: () => database.close(),
  };
}

/** Runs `action` once all input that is ready has been read: the moment to commit the writes that arrived together. */
export function afterReads(action: () => void): void {
  setImmediate(action);
}
