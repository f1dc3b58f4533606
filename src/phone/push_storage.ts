/** What this phone wants to be rung for, in IndexedDB, where the service worker finds it too. */
import { type IDBPDatabase, openDB } from "idb";
import { RingPreferences } from "../protocol/web_push.ts";

export interface PushStorage {
  /** Undefined until notifications were switched on. */
  readPreferences(): Promise<RingPreferences | undefined>;
  writePreferences(preferences: RingPreferences): Promise<void>;
  clear(): Promise<void>;
}

const STORE = "preferences";
const KEY = "current";

/** Opens the database when it is first used. */
export function pushStorage(): PushStorage {
  let opened: Promise<IDBPDatabase> | undefined;
  const open = (): Promise<IDBPDatabase> =>
    opened ??= openDB("svc-push", 1, {
      upgrade: (created) => void created.createObjectStore(STORE),
    });
  return {
    readPreferences: async () => RingPreferences.safeParse(await (await open()).get(STORE, KEY)).data,
    writePreferences: async (preferences) => void await (await open()).put(STORE, preferences, KEY),
    clear: async () => await (await open()).clear(STORE),
  };
}
