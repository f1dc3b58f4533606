/** Devices in SQLite. */
import type { Role } from "../protocol/frames.ts";
import { optional, type SqliteContext } from "./sqlite_context.ts";
import type { DeviceRecord, DeviceStore } from "./store.ts";

interface DeviceRow {
  account: string;
  id: string;
  kind: Role;
  name: string;
  version: string;
  public_key: string | null;
  online: number;
  created_at: number;
  last_seen: number;
  revoked_at: number | null;
}

const toDevice = (row: DeviceRow): DeviceRecord => ({
  account: row.account,
  id: row.id,
  kind: row.kind,
  name: row.name,
  version: row.version,
  publicKey: optional(row.public_key),
  online: row.online === 1,
  createdAt: row.created_at,
  lastSeen: row.last_seen,
  revokedAt: optional(row.revoked_at),
});

const SAVE = `
  INSERT INTO devices (account, id, kind, name, version, public_key, online, created_at, last_seen)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (account, id) DO UPDATE SET
    kind = excluded.kind, name = excluded.name, version = excluded.version, public_key = excluded.public_key,
    online = excluded.online, last_seen = excluded.last_seen`;

export function sqliteDevices({ database, read, write, writeUnsynced }: SqliteContext): DeviceStore {
  const save = database.prepare(SAVE);
  const find = database.prepare("SELECT * FROM devices WHERE account = ? AND id = ?");
  const list = database.prepare(
    "SELECT * FROM devices WHERE account = ? AND revoked_at IS NULL ORDER BY created_at, id",
  );
  const online = database.prepare(
    "UPDATE devices SET online = ?, last_seen = ? WHERE account = ? AND id = ?",
  );
  const offline = database.prepare("UPDATE devices SET online = 0, last_seen = ? WHERE online = 1");
  const revoke = database.prepare(
    "UPDATE devices SET revoked_at = ?, online = 0 WHERE account = ? AND id = ? AND revoked_at IS NULL",
  );
  const revokeKeys = database.prepare(
    "UPDATE keys SET revoked_at = ? WHERE account = ? AND device_id = ? AND revoked_at IS NULL",
  );
  const forgetWebPush = database.prepare("DELETE FROM web_push WHERE account = ? AND device_id = ?");
  const record = database.prepare("INSERT INTO revocations (kind, account, id) VALUES ('device', ?, ?)");

  return {
    saveDevice: (device) =>
      write(() => {
        const { account, id, kind, name, version, createdAt, lastSeen } = device;
        const key = device.publicKey ?? null;
        save.run(account, id, kind, name, version, key, Number(device.online), createdAt, lastSeen);
      }),
    findDevice: ({ account, id }) =>
      read(() => {
        const row = find.get(account, id) as unknown as DeviceRow | undefined;
        return row && toDevice(row);
      }),
    listDevices: (account) => read(() => (list.all(account) as unknown as DeviceRow[]).map(toDevice)),
    setOnline: ({ account, id }, state) =>
      writeUnsynced(() => void online.run(Number(state.online), state.now, account, id)),
    setAllOffline: (now) => writeUnsynced(() => void offline.run(now)),
    revokeDevice: ({ account, id }, now) =>
      write(() => {
        if (revoke.run(now, account, id) === 0) return false;
        revokeKeys.run(now, account, id);
        forgetWebPush.run(account, id);
        record.run(account, id);
        return true;
      }),
  };
}
