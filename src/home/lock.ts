/** An exclusive file lock that the kernel releases when its holder dies, and that works across both runtimes. */
import { systemClock, waitFor } from "../async/clock.ts";
import type { Files } from "../runtime/types.ts";

export interface FileLock {
  release(): void;
}

type LockFiles = Pick<Files, "createText" | "writeText" | "remove" | "info">;

const LIMIT_MS = 5_000;
const PROBE_MS = 20;

/** Runs `work` while it holds the lock, and returns its result. Throws the error of `busy` after waiting for 5 s. */
export async function withLock<T>(
  files: LockFiles,
  path: string,
  { busy, work }: { busy(): Error; work(): Promise<T> },
): Promise<T> {
  const waiting = { clock: systemClock, limitMs: LIMIT_MS, everyMs: PROBE_MS };
  const lock = await waitFor(() => tryLock(files, path), waiting);
  if (lock === undefined) throw busy();
  try {
    return await work();
  } finally {
    lock.release();
  }
}

/**
 * Takes the lock; undefined while another process holds it. It is SQLite's lock on its database file (fcntl), the only
 * exclusive file lock that Deno and Node share. POSIX releases it when the process closes any other handle of the file,
 * so nothing else may open `path` while the lock is held.
 */
export async function tryLock(files: LockFiles, path: string): Promise<FileLock | undefined> {
  if (!await files.createText(path, "", { mode: 0o600 })) await clearFolder(files, path);
  try {
    return await openExclusive(path);
  } catch (error) {
    if (!hasMessage(error, "file is not a database")) throw error;
  }
  // Truncated, not replaced: a new file would be a second lock, and another process may hold the one on this file.
  await files.writeText(path, "", { mode: 0o600 });
  return await openExclusive(path);
}

/** Removes an empty folder in place of the lock: unlike a rename, that cannot take another process's lock away. */
async function clearFolder(files: LockFiles, path: string): Promise<void> {
  if (!(await files.info(path))?.isDirectory) return;
  await files.remove(path).catch(() => {
    throw new Error(`Cannot use the lock "${path}": a folder is in its place. Move it away.`);
  });
  await files.createText(path, "", { mode: 0o600 });
}

async function openExclusive(path: string): Promise<FileLock | undefined> {
  const { openDatabase } = await import("../runtime/sqlite.ts");
  const database = await openDatabase(path, { busyMs: 0 });
  try {
    // Nothing is ever written, and otherwise a crash would leave a journal file.
    database.exec("PRAGMA journal_mode = MEMORY");
    database.exec("BEGIN EXCLUSIVE");
    return { release: () => database.close() };
  } catch (error) {
    database.close();
    if (hasMessage(error, "database is locked")) return undefined;
    throw error;
  }
}

/** Deno's SQLite errors carry no code. */
function hasMessage(error: unknown, part: string): boolean {
  return error instanceof Error && error.message.includes(part);
}
