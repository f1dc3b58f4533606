/** Pairing codes and Web Push subscriptions in SQLite. */
import type { Scope, WebPushSubscription } from "../protocol/http.ts";
import type { SqliteContext } from "./sqlite_context.ts";
import type { PairingRecord, PairingStore, WebPushStore } from "./store.ts";

interface PairingRow {
  code_hash: Uint8Array;
  account: string;
  key_id: string;
  scopes: string;
  expires_at: number;
}

const toPairing = (row: PairingRow): PairingRecord => ({
  codeHash: row.code_hash,
  account: row.account,
  keyId: row.key_id,
  scopes: row.scopes.split(" ") as Scope[],
  expiresAt: row.expires_at,
});

export function sqlitePairings({ database, write }: SqliteContext): PairingStore {
  const insert = database.prepare(
    "INSERT INTO pairings (code_hash, account, key_id, scopes, expires_at) VALUES (?, ?, ?, ?, ?)",
  );
  const take = database.prepare("DELETE FROM pairings WHERE code_hash = ? AND expires_at > ? RETURNING *");
  const remove = database.prepare("DELETE FROM pairings WHERE expires_at <= ?");
  return {
    insertPairing: ({ codeHash, account, keyId, scopes, expiresAt }) =>
      write(() => void insert.run(codeHash, account, keyId, scopes.join(" "), expiresAt)),
    takePairing: (codeHash, now) =>
      write(() => {
        const row = take.get(codeHash, now) as unknown as PairingRow | undefined;
        return row && toPairing(row);
      }),
    removePairings: (now) => write(() => void remove.run(now)),
  };
}

const SAVE = `
  INSERT INTO web_push (account, device_id, subscription) VALUES (?, ?, ?)
  ON CONFLICT (account, device_id) DO UPDATE SET subscription = excluded.subscription`;

export function sqliteWebPush({ database, read, write }: SqliteContext): WebPushStore {
  const save = database.prepare(SAVE);
  const remove = database.prepare("DELETE FROM web_push WHERE account = ? AND device_id = ?");
  const find = database.prepare("SELECT subscription FROM web_push WHERE account = ? AND device_id = ?");
  return {
    saveWebPush: ({ account, id }, subscription) =>
      write(() => void save.run(account, id, JSON.stringify(subscription))),
    removeWebPush: ({ account, id }) => write(() => remove.run(account, id) > 0),
    findWebPush: ({ account, id }) =>
      read(() => {
        const text = find.get(account, id)?.subscription as string | undefined;
        return text === undefined ? undefined : JSON.parse(text) as WebPushSubscription;
      }),
  };
}
