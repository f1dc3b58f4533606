/** One relay a store: held by a lock of the operating system, which a killed process lets go of by itself. */
import { openDatabase } from "../runtime/sqlite.ts";
import { StoreUnavailable } from "./store.ts";

/** Returns how to let go. Throws StoreUnavailable when another relay holds it. */
export async function lockForRelay(dataDir: string): Promise<() => void> {
  const lock = await openDatabase(`${dataDir}/relay.lock`, { busyMs: 0 });
  try {
    lock.exec("BEGIN EXCLUSIVE");
    return () => lock.close();
  } catch (error) {
    lock.close();
    if (!(error instanceof Error) || !error.message.includes("locked")) throw error;
    throw new StoreUnavailable(
      `Cannot open the store in "${dataDir}": another relay runs on it; use that one (svc pair prints a link to it), stop it, or give another folder`,
    );
  }
}
