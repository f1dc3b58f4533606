/** Copies all that a relay keeps into another store: again and again, while the relay goes on, until nothing is missing. */
import type { CopyStore } from "./store.ts";

export interface Copied {
  accounts: number;
  keys: number;
  devices: number;
  pushes: number;
  /** Of the pushes: those that the copy did not have, and those whose receipts had changed. */
  added: number;
  changed: number;
}

/** Rejects with StoreUnavailable. What was copied so far stays, and the next copy goes on from it. */
export async function copyStore(
  { from, to }: { from: CopyStore; to: CopyStore },
  now: number,
): Promise<Copied> {
  await to.beginCopy();
  await to.writeSecrets(await from.readSecrets());
  const copied: Copied = { accounts: 0, keys: 0, devices: 0, pushes: 0, added: 0, changed: 0 };
  const accounts = new Set(await from.accountIds());
  for (const account of accounts) {
    const found = await from.readAccount(account);
    // A device that is connected now is one that the copy has just seen.
    const devices = found.devices.map((one) => one.online ? { ...one, online: false, lastSeen: now } : one);
    await to.writeAccount({ ...found, devices });
    copied.accounts += 1;
    copied.keys += found.keys.length;
    copied.devices += devices.length;
  }
  for await (const page of from.readPushes()) {
    // An account that was created meanwhile is copied next time.
    const pushes = page.filter(({ account }) => accounts.has(account));
    const { added, changed } = await to.writePushes(pushes);
    copied.pushes += pushes.length;
    copied.added += added;
    copied.changed += changed;
  }
  await to.endCopy();
  return copied;
}
