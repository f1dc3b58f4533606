/** Whether the store can be written, found out by a write: a lock alone is granted on a full disk, too. */
import type { Clock } from "../async/clock.ts";
import { REQUEST_MAX_BYTES } from "../protocol/limits.ts";
import type { SqliteContext, WriteBatch } from "./sqlite_context.ts";

/** How long a write that succeeded answers for further callers, in milliseconds: anyone may ask a relay. */
const WRITTEN_MS = 1_000;

/** After a failed write, as much room is needed as the longest request takes. */
const TAKE_ROOM = `
  DROP TABLE IF EXISTS write_check;
  CREATE TABLE write_check (bytes BLOB NOT NULL) STRICT;
  INSERT INTO write_check VALUES (randomblob(${REQUEST_MAX_BYTES}));`;

/** Returns the function that resolves if the store can be written, and else rejects with StoreUnavailable. */
export function readiness(
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
      await write(() => database.exec("DROP TABLE write_check"));
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
