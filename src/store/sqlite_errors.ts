/** Tells SQLite's errors apart by their message: one of the runtimes gives no code. */
import { StoreUnavailable } from "./store.ts";

const UNAVAILABLE =
  /database (table )?is locked|disk is full|disk I\/O error|readonly database|unable to open|malformed|not a database|database is not open|statement has been finalized/i;

/** StoreUnavailable for what the disk or another program does to the database; a mistake of ours stays as it is. */
export function storeError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StoreUnavailable) return error;
  if (!UNAVAILABLE.test(error.message)) return error;
  return new StoreUnavailable(`Cannot use the store: ${error.message}`, { cause: error });
}
