/** Keys and revocations in SQLite. */
import type { Scope } from "../protocol/http.ts";
import type { Role } from "../protocol/frames.ts";
import type { Database } from "../runtime/sqlite.ts";
import { optional, type SqliteContext } from "./sqlite_context.ts";
import type { KeyRecord, KeyStore, Revocation } from "./store.ts";

/** How often the store is polled for revocations by other processes. */
const REVOCATION_POLL_MS = 250;

export interface KeyRow {
  id: string;
  account: string;
  name: string;
  hash: Uint8Array;
  scopes: string;
  role: Role | null;
  device_id: string | null;
  parent: string | null;
  created_at: number;
  revoked_at: number | null;
}

type RevocationRow = Revocation & { seq: number };

export const toKey = (row: KeyRow): KeyRecord => ({
  id: row.id,
  account: row.account,
  name: row.name,
  hash: row.hash,
  scopes: row.scopes.split(" ") as Scope[],
  role: optional(row.role),
  deviceId: optional(row.device_id),
  parent: optional(row.parent),
  createdAt: row.created_at,
  revokedAt: optional(row.revoked_at),
});

const LIST = "SELECT * FROM keys WHERE ?1 IS NULL OR account = ?1 ORDER BY created_at, id";

export function sqliteKeys(context: SqliteContext): KeyStore {
  const { database, read, write } = context;
  const insertAccount = database.prepare(
    "INSERT INTO accounts (id, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING",
  );
  const insert = database.prepare(INSERT);
  const own = database.prepare(OWN);
  const restoreDevice = database.prepare("UPDATE devices SET revoked_at = NULL WHERE account = ? AND id = ?");
  const byHash = database.prepare<KeyRow>("SELECT * FROM keys WHERE hash = ?");
  const byId = database.prepare<KeyRow>("SELECT * FROM keys WHERE id = ?");
  const all = database.prepare<KeyRow>(LIST);
  const revoke = revokeKeysOf(database);
  const moveDevices = database.prepare(MOVE_DEVICES);
  const moveChildren = database.prepare("UPDATE keys SET parent = ? WHERE parent = ? AND id <> ?");
  const use = database.prepare(USE);

  return {
    insertKey: (key) =>
      write(() => {
        insertAccount.run(key.account, key.createdAt);
        const { id, account, name, hash, role = null, deviceId = null, parent = null } = key;
        const fields = [id, account, name, hash, key.scopes.join(" "), role, deviceId, parent, key.createdAt];
        if (insert.run(...fields) === 0) return false;
        if (deviceId === null) return true;
        restoreDevice.run(account, deviceId);
        own.run(account, deviceId, id);
        return true;
      }),
    findKey: (hash) => read(() => keyOf(byHash.get(hash))),
    findKeyById: (id) => read(() => keyOf(byId.get(id))),
    listKeys: (account) => read(() => all.all(account ?? null).map(toKey)),
    revokeKey: (id, now, { only } = { only: false }) => write(() => revoke([id], { now, only })),
    replaceKey: ({ from, to }) =>
      write(() => {
        moveDevices.run(to, from);
        moveChildren.run(to, from, to);
      }),
    keyUse: (id, now) =>
      read(() => {
        const row = use.get(id, now);
        return {
          devices: Number(row?.devices),
          openPairings: Number(row?.open),
          firstPairingEnds: (row?.ends ?? undefined) as number | undefined,
        };
      }),
    watchRevocations: watchOf(context),
  };
}

/** Inserts no child of a revoked key: revoking the parent was meant to revoke this key too. */
const INSERT = `
  INSERT INTO keys (id, account, name, hash, scopes, role, device_id, parent, created_at)
  SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9
    WHERE NOT EXISTS (SELECT 1 FROM keys WHERE id = ?8 AND revoked_at IS NOT NULL)`;

/** Makes a key the owner of a device in place of any other. */
export const OWN = `
  INSERT INTO device_owners (account, device_id, key_id) VALUES (?, ?, ?)
  ON CONFLICT (account, device_id) DO UPDATE SET key_id = excluded.key_id`;

/** Browsers that signed in with the old key keep that key and their devices. */
const MOVE_DEVICES = `
  UPDATE device_owners SET key_id = ?1 WHERE key_id = ?2 AND NOT EXISTS (
    SELECT 1 FROM devices
    WHERE devices.account = device_owners.account AND devices.id = device_id AND devices.kind = 'phone')`;

/** The devices of the key `?1` that are not revoked, plus those of the keys that its pairing codes created. */
export const DEVICES_OF_KEY = `
  (SELECT count(*) FROM device_owners WHERE key_id = ?1 AND NOT EXISTS (
    SELECT 1 FROM devices WHERE devices.account = device_owners.account
      AND devices.id = device_owners.device_id AND devices.revoked_at IS NOT NULL)) +
    (SELECT count(*) FROM keys WHERE parent = ?1 AND revoked_at IS NULL)`;

const USE = `
  SELECT ${DEVICES_OF_KEY} AS devices,
    count(*) AS open, min(expires_at) AS ends
  FROM pairings WHERE key_id = ?1 AND taken = 0 AND expires_at > ?2`;

const REVOKE_DEVICE_OF = `
  UPDATE devices SET revoked_at = ?1, online = 0
  FROM keys WHERE keys.id = ?2 AND keys.account = devices.account AND keys.device_id = devices.id
    AND devices.revoked_at IS NULL`;

const WITH_DESCENDANTS = `
  WITH RECURSIVE found (id, depth) AS (
    SELECT id, 0 FROM keys WHERE id = ?1
    UNION SELECT keys.id, 1 FROM keys JOIN found ON keys.parent = found.id
  )
  SELECT DISTINCT id FROM found ORDER BY depth`;

/** Revokes these keys and, unless `only`, their descendants with their devices; returns the ids of the keys it revoked. */
export function revokeKeysOf(
  database: Database,
): (ids: readonly string[], options: { now: number; only?: boolean }) => string[] {
  const descendants = database.prepare(WITH_DESCENDANTS);
  const revoke = database.prepare(
    "UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL RETURNING account",
  );
  const record = database.prepare("INSERT INTO revocations (kind, account, id) VALUES ('key', ?, ?)");
  const revokeDevice = database.prepare(REVOKE_DEVICE_OF);
  return (ids, { now, only = false }) => {
    const all = only ? ids : ids.flatMap((id) => descendants.all(id).map((row) => row.id as string));
    return [...new Set(all)].filter((id) => {
      const row = revoke.get(now, id);
      if (row === undefined) return false;
      record.run(row.account as string, id);
      if (!ids.includes(id)) revokeDevice.run(now, id);
      return true;
    });
  };
}

function keyOf(row: KeyRow | undefined): KeyRecord | undefined {
  return row === undefined ? undefined : toKey(row);
}

/** Polls for new rows: the only way to learn of another process's revocations. */
function watchOf({ database, read }: SqliteContext): KeyStore["watchRevocations"] {
  const newest = database.prepare("SELECT coalesce(max(seq), 0) AS seq FROM revocations");
  const since = database.prepare<RevocationRow>("SELECT * FROM revocations WHERE seq > ? ORDER BY seq");
  return (handler) => {
    let seen = Number(newest.get()?.seq);
    const poll = async (): Promise<void> => {
      const rows = await read(() => since.all(seen));
      for (const { seq, kind, account, id } of rows) {
        seen = Math.max(seen, seq);
        handler({ kind, account, id });
      }
    };
    // A failed poll is covered by the next one.
    const timer = setInterval(() => poll().catch(() => undefined), REVOCATION_POLL_MS);
    return () => clearInterval(timer);
  };
}
