/** Inventories in SQLite, with the names of their sessions indexed for the routing of pushes. */
import type { SessionEntry } from "../protocol/session.ts";
import type { SqliteContext } from "./sqlite_context.ts";
import type { InventoryRecord, InventoryStore } from "./store.ts";

interface InventoryRow {
  account: string;
  device_id: string;
  sessions: string;
  reported_at: number;
}

const toInventory = (row: InventoryRow): InventoryRecord => ({
  account: row.account,
  deviceId: row.device_id,
  sessions: JSON.parse(row.sessions) as SessionEntry[],
  reportedAt: row.reported_at,
});

const SAVE = `
  INSERT INTO inventories (account, device_id, sessions, reported_at) VALUES (?, ?, ?, ?)
  ON CONFLICT (account, device_id) DO UPDATE SET sessions = excluded.sessions, reported_at = excluded.reported_at`;

const WITH_SESSION = `
  SELECT device_id FROM session_names JOIN devices
    ON devices.account = session_names.account AND devices.id = session_names.device_id
  WHERE session_names.account = ? AND session_names.name = ? AND devices.revoked_at IS NULL
  ORDER BY device_id`;

export function sqliteInventories({ database, read, write }: SqliteContext): InventoryStore {
  const save = database.prepare(SAVE);
  const removeNames = database.prepare("DELETE FROM session_names WHERE account = ? AND device_id = ?");
  const insertName = database.prepare(
    "INSERT INTO session_names (account, name, device_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const list = database.prepare("SELECT * FROM inventories WHERE account = ? ORDER BY device_id");
  const withSession = database.prepare(WITH_SESSION);

  return {
    saveInventory: ({ account, deviceId, sessions, reportedAt }) =>
      write(() => {
        save.run(account, deviceId, JSON.stringify(sessions), reportedAt);
        removeNames.run(account, deviceId);
        for (const { name } of sessions) insertName.run(account, name, deviceId);
      }),
    listInventories: (account) =>
      read(() => (list.all(account) as unknown as InventoryRow[]).map(toInventory)),
    devicesWithSession: (account, name) =>
      read(() => withSession.all(account, name).map((row) => row.device_id as string)),
  };
}
