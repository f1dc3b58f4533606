/** Keys and revocations in SQLite. */
import type { Scope } from "../protocol/http.ts";
import { optional, type SqliteContext } from "./sqlite_context.ts";
import type { KeyRecord, KeyStore, Revocation } from "./store.ts";

/** How often another process's revocations are looked for. */
const REVOCATION_POLL_MS = 250;

interface KeyRow {
  id: string;
  account: string;
  name: string;
  hash: Uint8Array;
  scopes: string;
  device_id: string | null;
  created_at: number;
  revoked_at: number | null;
}

type RevocationRow = Revocation & { seq: number };

const toKey = (row: KeyRow): KeyRecord => ({
  id: row.id,
  account: row.account,
  name: row.name,
  hash: row.hash,
  scopes: row.scopes.split(" ") as Scope[],
  deviceId: optional(row.device_id),
  createdAt: row.created_at,
  revokedAt: optional(row.revoked_at),
});

export function sqliteKeys(context: SqliteContext): KeyStore {
  const { database, read, write } = context;
  const insertAccount = database.prepare(
    "INSERT INTO accounts (id, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING",
  );
  const insert = database.prepare(
    "INSERT INTO keys (id, account, name, hash, scopes, device_id, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  const restoreDevice = database.prepare("UPDATE devices SET revoked_at = NULL WHERE account = ? AND id = ?");
  const byHash = database.prepare("SELECT * FROM keys WHERE hash = ?");
  const byId = database.prepare("SELECT * FROM keys WHERE id = ?");
  const all = database.prepare("SELECT * FROM keys WHERE ?1 IS NULL OR account = ?1 ORDER BY created_at, id");
  const revoke = database.prepare(
    "UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL RETURNING account",
  );
  const record = database.prepare("INSERT INTO revocations (kind, account, id) VALUES ('key', ?, ?)");

  return {
    insertKey: (key) =>
      write(() => {
        insertAccount.run(key.account, key.createdAt);
        const device = key.deviceId ?? null;
        insert.run(key.id, key.account, key.name, key.hash, key.scopes.join(" "), device, key.createdAt);
        if (device !== null) restoreDevice.run(key.account, device);
      }),
    findKey: (hash) => read(() => keyOf(byHash.get(hash))),
    findKeyById: (id) => read(() => keyOf(byId.get(id))),
    listKeys: (account) => read(() => (all.all(account ?? null) as unknown as KeyRow[]).map(toKey)),
    revokeKey: (id, now) =>
      write(() => {
        const row = revoke.get(now, id);
        if (row === undefined) return false;
        record.run(row.account as string, id);
        return true;
      }),
    watchRevocations: watchOf(context),
  };
}

function keyOf(row: unknown): KeyRecord | undefined {
  return row === undefined ? undefined : toKey(row as KeyRow);
}

/** Looks for new rows: another process's revocations have no other way to be heard of. */
function watchOf({ database, read }: SqliteContext): KeyStore["watchRevocations"] {
  const newest = database.prepare("SELECT coalesce(max(seq), 0) AS seq FROM revocations");
  const since = database.prepare("SELECT * FROM revocations WHERE seq > ? ORDER BY seq");
  return (handler) => {
    let seen = Number(newest.get()?.seq);
    const poll = async (): Promise<void> => {
      const rows = await read(() => since.all(seen)) as unknown as RevocationRow[];
      for (const { seq, kind, account, id } of rows) {
        seen = Math.max(seen, seq);
        handler({ kind, account, id });
      }
    };
    // A poll that fails is repeated by the next one.
    const timer = setInterval(() => poll().catch(() => undefined), REVOCATION_POLL_MS);
    return () => clearInterval(timer);
  };
}
