/** The store in one SQLite file, in WAL mode, with batched writes. */
import { type Clock, systemClock } from "../async/clock.ts";
import { errorText } from "../async/error_text.ts";
import { tryLock } from "../home/lock.ts";
import { REQUEST_MAX_BYTES } from "../protocol/limits.ts";
import { runtime } from "#runtime";
import { afterReads, type Database, openDatabase } from "../runtime/sqlite.ts";
import { folderOf } from "../runtime/system.ts";
import { migrate } from "./migrations.ts";
import { type SqliteCopies, sqliteCopies } from "./sqlite_copy.ts";
import { type SqliteContext, sqliteContext, storeError, WriteBatch } from "./sqlite_context.ts";
import { sqliteDevices, sqliteInventories, sqlitePairings, sqliteWebPush } from "./sqlite_devices.ts";
import { sqliteHooks, sqlitePushes } from "./sqlite_pushes.ts";
import { sqliteKeys } from "./sqlite_keys.ts";
import { type Store, StoreInUse, StoreUnavailable } from "./store.ts";

/** How long a write waits for another process's lock. The whole process blocks meanwhile: see `OpenStoreOptions`. */
const BUSY_MS = 5_000;

const databaseFile = (dataDir: string): string => `${dataDir}/relay.db`;

const SETTINGS = `
  PRAGMA journal_mode = WAL;
  PRAGMA foreign_keys = ON;
  PRAGMA journal_size_limit = 16777216;`;

interface OpenStoreOptions {
  /** How long a write waits for another process's lock, in milliseconds; short for a server. */
  busyMs?: number;
  /** Takes the lock that keeps others off the same store: for the relay itself, or for writing a copy. */
  only?: "relay" | "copy";
}

/** Opens or creates the store in `dataDir` (0700, its file 0600) and brings its schema up to date. */
export async function openStore(dataDir: string, options: OpenStoreOptions = {}): Promise<Store> {
  try {
    await makePrivate(dataDir);
    const unlock = options.only !== undefined ? await lockForRelay(dataDir) : () => undefined;
    try {
      const checkLength = await lengthCheck(dataDir);
      const database = await openDatabase(databaseFile(dataDir), { busyMs: options.busyMs ?? BUSY_MS });
      const store = prepare(database, { checkLength, closed: unlock, isInUse: () => isLocked(dataDir) });
      if (options.only === "relay") {
        await store.forgetCopy();
        await store.forgetCheck();
      }
      return store;
    } catch (error) {
      unlock();
      throw error;
    }
  } catch (error) {
    throw openError(error, dataDir);
  }
}

/**
 * Returns a check that throws if the end of the database is missing: SQLite reads zeros in place of a missing part of
 * the last page. Only a write-ahead log may still have that part.
 */
async function lengthCheck(dataDir: string): Promise<(database: Database) => void> {
  const [{ size = 0 } = {}, log] = await Promise.all(
    ["", "-wal"].map((suffix) => runtime.files.info(`${databaseFile(dataDir)}${suffix}`)),
  );
  return (database) => {
    const { page_size: page } = database.prepare("PRAGMA page_size").get() ?? {};
    if ((log?.size ?? 0) > 0 || size % Number(page) === 0) return;
    throw new Error("database disk image is malformed: its end is missing");
  };
}

/** Copies the store in `dataDir` into `file` (0600). A relay may be running on the store. */
export async function backupStore(dataDir: string, file: string): Promise<void> {
  const source = databaseFile(dataDir);
  if (await runtime.files.info(source) === undefined) {
    throw new StoreUnavailable(`Cannot back up "${dataDir}": there is no store in it`);
  }
  const database = await openDatabase(source, { busyMs: BUSY_MS });
  try {
    keepSnapshot(database);
    await copyTo(database, file);
  } finally {
    database.close();
  }
}

/** Otherwise SQLite starts the copy over at each write of another process, and it never ends beside a busy relay. */
function keepSnapshot(database: Database): void {
  try {
    database.exec("BEGIN");
    database.prepare("SELECT count(*) FROM sqlite_schema").get();
  } catch (error) {
    throw storeError(error);
  }
}

/**
 * Allows one relay per store, by a lock that the operating system releases when the process dies. Returns the function
 * that releases it. Throws StoreInUse when another relay holds it.
 */
async function lockForRelay(dataDir: string): Promise<() => void> {
  const lock = await tryLock(runtime.files, `${dataDir}/relay.lock`);
  if (lock !== undefined) return () => lock.release();
  throw new StoreInUse(
    `Cannot open the store in "${dataDir}": another relay is running on it; use that one (svc pair prints its link), stop it, or choose another folder`,
  );
}

/** What svc, or the file system, keeps in the folder of a store. */
const OWN_NAME = /^(?:relay\.|nats\.json$|lost\+found$)/;
const OTHERS_WRITE = 0o022;

/**
 * Makes the folder and the files private. A folder of other files keeps its mode, and is refused with an Error if other
 * accounts may write there.
 */
async function makePrivate(dataDir: string): Promise<void> {
  const { files } = runtime;
  await files.makeDirectory(dataDir, { mode: 0o700 });
  const names = await files.list(dataDir);
  const isOwn = names.every((name) => OWN_NAME.test(name));
  if (isOwn) await files.chmod(dataDir, 0o700);
  else if ((((await files.info(dataDir))?.mode ?? 0) & OTHERS_WRITE) !== 0) {
    throw new Error(
      `it has other files, and other accounts may write there. Name a folder of its own, such as "${
        dataDir.replace(/\/$/, "")
      }/svc"`,
    );
  }
  // SQLite gives its journal and shared-memory files the mode of the database.
  for (const file of [databaseFile(dataDir), `${dataDir}/relay.lock`]) {
    if (!await files.createText(file, "", { mode: 0o600 })) await files.chmod(file, 0o600);
  }
}

async function isLocked(dataDir: string): Promise<boolean> {
  try {
    (await lockForRelay(dataDir))();
    return false;
  } catch (error) {
    if (error instanceof StoreInUse) return true;
    throw error;
  }
}

interface StoreLock {
  closed(): void;
  isInUse(): Promise<boolean>;
}

interface SqliteStore extends Store, SqliteCopies {
  forgetCheck(): Promise<void>;
}

function prepare(
  database: Database,
  { checkLength, ...lock }: StoreLock & { checkLength(database: Database): void },
): SqliteStore {
  try {
    checkLength(database);
    database.exec(SETTINGS);
    migrate(database);
    return sqliteStore(database, lock);
  } catch (error) {
    database.close();
    throw error;
  }
}

const DAMAGED = /malformed|not a database|unable to open/;

function openError(error: unknown, dataDir: string): unknown {
  const known = storeError(error);
  const why = errorText(error);
  if (known instanceof StoreUnavailable && DAMAGED.test(why)) {
    return new StoreUnavailable(
      `Cannot open "${
        databaseFile(dataDir)
      }": ${why}. Move it and the files beside it away (-wal, -shm). Put a copy made by svc server backup in its place; without one, the relay begins with an empty store.`,
      { cause: error },
    );
  }
  if (known instanceof StoreUnavailable) return known;
  return new StoreUnavailable(`Cannot open the store in "${dataDir}": ${why}`, { cause: error });
}

/** Only the copy's disk can be: the store is not written. */
const FULL = /disk is full|no space left|ENOSPC/i;

/** Writes a temporary file and renames it, so that `file` is either a complete copy or unchanged. */
async function copyTo(database: Database, file: string): Promise<void> {
  let fault: string | undefined;
  try {
    fault = await targetFault(database, file);
    if (fault === undefined) return await writeCopy(database, file);
  } catch (error) {
    const known = storeError(error);
    const isFull = FULL.test(errorText(error));
    if (known instanceof StoreUnavailable && !isFull) throw known;
    const remedy = isFull ? "Make room there, or name another file." : "Name a file in a folder of yours.";
    fault = `${errorText(error)}. ${remedy}`;
  }
  throw new Error(`Cannot back up to "${file}": ${fault}`);
}

async function writeCopy(database: Database, file: string): Promise<void> {
  const part = `${file}.part`;
  await createOwnFile(part);
  try {
    await database.backup(part);
    await runtime.files.rename(part, file);
  } catch (error) {
    await runtime.files.remove(part);
    throw error;
  }
}

/**
 * Creates an empty file in place of one that a killed backup left, so that nothing is written through a link or into
 * another account's file.
 */
async function createOwnFile(path: string): Promise<void> {
  const { files } = runtime;
  if (await files.createText(path, "", { mode: 0o600 })) return;
  const isFolder = (await files.info(path))?.isDirectory === true;
  if (!isFolder) await files.remove(path);
  if (isFolder || !await files.createText(path, "", { mode: 0o600 })) {
    throw new Error(`"${path}" is in the way`);
  }
}

/**
 * Returns why no copy can be written there, and what to do. A new file in place of the store itself would lose what its
 * relay writes later.
 */
async function targetFault(database: Database, file: string): Promise<string | undefined> {
  const { files } = runtime;
  const folder = folderOf(file);
  const realFolder = await files.realPath(folder);
  if (realFolder === undefined) return `there is no folder "${folder}". Create it, or name another file.`;
  const info = await files.info(file);
  if (info?.isDirectory) return "that is a folder. Name a file in it.";
  // As root, the renamed copy would replace the device, or the link /dev/stdout.
  if (info?.isFile === false || realFolder === "/dev") return "that is not a plain file. Name another file.";
  // SQLite reports the file behind every link.
  const store = String(database.prepare("PRAGMA database_list").get()?.["file"]);
  const real = await files.realPath(file) ??
    `${realFolder.replace(/\/$/, "")}/${file.slice(file.lastIndexOf("/") + 1)}`;
  const own = ["", "-wal", "-shm"].map((suffix) => `${store}${suffix}`);
  return own.includes(real) ? "that is the store itself. Name another file." : undefined;
}

function sqliteStore(database: Database, { closed, isInUse }: StoreLock): SqliteStore {
  const batch = new WriteBatch(database, { schedule: afterReads });
  const context = sqliteContext(database, batch);
  return {
    ...sqliteKeys(context),
    ...sqliteDevices(context),
    ...sqlitePushes(context),
    ...sqliteInventories(context),
    ...sqlitePairings(context),
    ...sqliteWebPush(context),
    ...sqliteHooks(context),
    ...sqliteCopies(context),
    isInUse,
    forgetCheck: () => forgetCheck(context),
    ready: readiness(context, { batch, clock: systemClock }),
    backup: (file) => copyTo(database, file),
    close() {
      batch.flush();
      database.close();
      closed();
      return Promise.resolve();
    },
  };
}

/** How long a write that succeeded answers for further callers, in milliseconds: anyone may ask a relay. */
const WRITTEN_MS = 1_000;

const GIVE_ROOM = "DROP TABLE IF EXISTS write_check";

/** After a failed write, as much room is needed as the longest request takes. */
const TAKE_ROOM = `
  ${GIVE_ROOM};
  CREATE TABLE write_check (bytes BLOB NOT NULL) STRICT;
  INSERT INTO write_check VALUES (randomblob(${REQUEST_MAX_BYTES}));`;

/** Removes what a check left when its relay was killed. On a full disk a later check does so. */
async function forgetCheck({ database, write }: SqliteContext): Promise<void> {
  await write(() => database.exec(GIVE_ROOM)).catch(() => undefined);
}

/**
 * Returns the function that resolves if the store can be written, and else rejects with StoreUnavailable. It finds out by
 * a write: a lock alone is granted on a full disk, too.
 */
function readiness(
  { database, write, writeUnsynced }: SqliteContext,
  { batch, clock }: { batch: WriteBatch; clock: Pick<Clock, "elapsed"> },
): () => Promise<void> {
  let checking: Promise<void> | undefined;
  let writtenAt = -Infinity;
  const check = async (): Promise<void> => {
    // A number that svc does not use: setting it writes a page and changes nothing.
    if (!batch.hasFailed) await writeUnsynced(() => database.exec("PRAGMA user_version = 0"));
    else {
      await write(() => database.exec(TAKE_ROOM));
      await write(() => database.exec(GIVE_ROOM));
      batch.hasFailed = false;
    }
    writtenAt = clock.elapsed();
  };
  return () => {
    if (!batch.hasFailed && clock.elapsed() - writtenAt < WRITTEN_MS) return Promise.resolve();
    checking ??= check().finally(() => checking = undefined);
    return checking;
  };
}
