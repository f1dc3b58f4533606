/** Devices in SQLite: with the inventories of listeners, the codes by which phones are paired, and the phones' Web Push subscriptions. */
import type { Role } from "../protocol/frames.ts";
import { CLAIMED_PAIRINGS_PER_KEY } from "../protocol/limits.ts";
import type { ReportedDetails, SessionEntry } from "../protocol/session.ts";
import type { Database } from "../runtime/sqlite.ts";
import { optional, type SqliteContext } from "./sqlite_context.ts";
import { DEVICES_OF_KEY, OWN, revokeKeysOf } from "./sqlite_keys.ts";
import type {
  ClaimOutcome,
  DeviceClaim,
  DeviceName,
  DeviceRecord,
  DeviceStore,
  InventoryRecord,
  InventoryStore,
  PairedPhone,
  PairingRecord,
  PairingStore,
  RevokedDevice,
  WebPushStore,
} from "./store.ts";
import type { PairingOffer, Scope } from "../protocol/http.ts";
import type { WebPushSubscription } from "../protocol/web_push.ts";

export interface DeviceRow {
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

export const toDevice = (row: DeviceRow): DeviceRecord => ({
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

const SAVE_DEVICE = `
  INSERT INTO devices (account, id, kind, name, version, public_key, online, created_at, last_seen)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (account, id) DO UPDATE SET
    kind = excluded.kind, name = excluded.name, version = excluded.version, public_key = excluded.public_key,
    online = excluded.online, last_seen = excluded.last_seen`;

export function sqliteDevices({ database, read, write, writeUnsynced }: SqliteContext): DeviceStore {
  const save = database.prepare(SAVE_DEVICE);
  const find = database.prepare<DeviceRow>("SELECT * FROM devices WHERE account = ? AND id = ?");
  const list = database.prepare<DeviceRow>(
    "SELECT * FROM devices WHERE account = ? AND revoked_at IS NULL ORDER BY created_at, id",
  );
  const online = database.prepare(
    "UPDATE devices SET online = ?, last_seen = ? WHERE account = ? AND id = ?",
  );
  const offline = database.prepare("UPDATE devices SET online = 0, last_seen = ? WHERE online = 1");
  const owners = ownersOf(database);
  const refuse = claimRefusalOf(database, owners);
  const revoke = revokeOf(database, owners);
  const saveNow = (device: Omit<DeviceRecord, "revokedAt">): void => {
    const { account, id, kind, name, version, createdAt, lastSeen } = device;
    const key = device.publicKey ?? null;
    save.run(account, id, kind, name, version, key, Number(device.online), createdAt, lastSeen);
  };
  return {
    saveDevice: (device) => write(() => saveNow(device)),
    claimDevice: (device, claim) =>
      write(() => {
        const refusal = refuse(device, claim);
        if (refusal !== undefined) return refusal;
        owners.set(device, claim.keyId);
        saveNow(device);
        return "claimed";
      }),
    deviceOwner: (device) => read(() => owners.find(device)),
    releaseDevice: (device) => write(() => owners.find(device) !== undefined && owners.remove(device)),
    findDevice: ({ account, id }) =>
      read(() => {
        const row = find.get(account, id);
        return row && toDevice(row);
      }),
    listDevices: (account) => read(() => list.all(account).map(toDevice)),
    nodeOf: () => Promise.resolve(undefined),
    isNodeAlive: () => Promise.resolve(false),
    setOnline: ({ account, id }, state) =>
      writeUnsynced(() => void online.run(Number(state.online), state.now, account, id)),
    setAllOffline: (now) => writeUnsynced(() => void offline.run(now)),
    revokeDevice: (device, now) => write(() => revoke(device, now)),
  };
}

function revokeOf(
  database: Database,
  owners: Owners,
): (device: DeviceName, now: number) => RevokedDevice | undefined {
  const revoke = database.prepare(
    "UPDATE devices SET revoked_at = ?, online = 0 WHERE account = ? AND id = ? AND revoked_at IS NULL",
  );
  const boundKeys = database.prepare("SELECT id FROM keys WHERE account = ? AND device_id = ?");
  const usedElsewhere = database.prepare(`SELECT ${OTHERS_OF_KEY} AS others`);
  const revokeKeys = revokeKeysOf(database);
  const forget = ["web_push", "inventories", "session_names"].map((table) =>
    database.prepare(`DELETE FROM ${table} WHERE account = ? AND device_id = ?`)
  );
  const record = database.prepare("INSERT INTO revocations (kind, account, id) VALUES ('device', ?, ?)");
  return ({ account, id }, now) => {
    const owner = owners.find({ account, id });
    if (revoke.run(now, account, id) === 0) return undefined;
    const ids = boundKeys.all(account, id).map((row) => row.id as string);
    let workingKey: string | undefined;
    if (owner !== undefined && !ids.includes(owner)) {
      if (Number(usedElsewhere.get(owner)?.others) > 0) workingKey = owner;
      else ids.push(owner);
    }
    const keys = revokeKeys(ids, { now });
    for (const statement of forget) statement.run(account, id);
    record.run(account, id);
    return { keys, workingKey };
  };
}

/**
 * Counts what uses the key `?1`: devices that are not revoked, keys that its pairing codes created, and the device that
 * it is bound to, which may never have connected.
 */
const OTHERS_OF_KEY = `
  (SELECT count(*) FROM device_owners JOIN devices
     ON devices.account = device_owners.account AND devices.id = device_owners.device_id
   WHERE key_id = ?1 AND devices.revoked_at IS NULL) +
    (SELECT count(*) FROM keys WHERE parent = ?1 AND revoked_at IS NULL) +
    (SELECT count(*) FROM keys WHERE id = ?1 AND device_id IS NOT NULL)`;

const STANDING = `
  SELECT
    (SELECT count(*) FROM keys WHERE id = ?1 AND revoked_at IS NULL) AS works,
    (SELECT revoked_at FROM devices WHERE account = ?2 AND id = ?3) AS revoked,
    (SELECT count(*) FROM devices WHERE account = ?2 AND id = ?3) AS known`;

/** Returns why the key cannot claim the device; undefined when it can. */
function claimRefusalOf(
  database: Database,
  owners: Owners,
): (device: DeviceName, claim: DeviceClaim) => Exclude<ClaimOutcome, "claimed"> | undefined {
  const standing = database.prepare(STANDING);
  const ofKey = database.prepare(`SELECT ${DEVICES_OF_KEY} AS devices`);
  const ofAccount = database.prepare(
    "SELECT count(*) AS devices FROM devices WHERE account = ? AND revoked_at IS NULL",
  );
  return (device, { keyId, most }) => {
    const { works, revoked, known } = standing.get(keyId, device.account, device.id) ?? {};
    if (works === 0 || revoked !== null) return "revoked";
    const owner = owners.find(device);
    if (owner !== undefined) return owner === keyId ? undefined : "taken";
    if (Number(ofKey.get(keyId)?.devices) >= most.ofKey) return "key_full";
    if (known === 0 && Number(ofAccount.get(device.account)?.devices) >= most.ofAccount) {
      return "account_full";
    }
    return undefined;
  };
}

interface Owners {
  /** A revoked key owns nothing. */
  find(device: DeviceName): string | undefined;
  set(device: DeviceName, keyId: string): void;
  remove(device: DeviceName): boolean;
}

const OWNER = `
  SELECT key_id FROM device_owners JOIN keys ON keys.id = key_id
  WHERE device_owners.account = ? AND device_owners.device_id = ? AND keys.revoked_at IS NULL`;

function ownersOf(database: Database): Owners {
  const find = database.prepare(OWNER);
  const set = database.prepare(OWN);
  const remove = database.prepare("DELETE FROM device_owners WHERE account = ? AND device_id = ?");
  return {
    find: ({ account, id }) => find.get(account, id)?.key_id as string | undefined,
    set: ({ account, id }, keyId) => void set.run(account, id, keyId),
    remove: ({ account, id }) => remove.run(account, id) > 0,
  };
}

export interface InventoryRow {
  account: string;
  device_id: string;
  sessions: string;
  details: string | null;
  reported_at: number;
}

export const toInventory = (row: InventoryRow): InventoryRecord => ({
  account: row.account,
  deviceId: row.device_id,
  sessions: JSON.parse(row.sessions) as SessionEntry[],
  ...(row.details === null ? {} : { details: JSON.parse(row.details) as ReportedDetails }),
  reportedAt: row.reported_at,
});

const SAVE_INVENTORY = `
  INSERT INTO inventories (account, device_id, sessions, details, reported_at) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (account, device_id) DO UPDATE SET sessions = excluded.sessions,
    details = coalesce(excluded.details, details), reported_at = excluded.reported_at`;

const INVENTORY_BYTES = `
  SELECT coalesce(sum(octet_length(sessions) + coalesce(octet_length(details), 0)), 0) AS bytes
  FROM device_owners JOIN inventories USING (account, device_id)
  WHERE key_id = ?1 AND NOT (account = ?2 AND device_id = ?3)`;

const WITH_SESSION = `
  SELECT device_id FROM session_names JOIN devices
    ON devices.account = session_names.account AND devices.id = session_names.device_id
  WHERE session_names.account = ? AND session_names.name = ? AND devices.revoked_at IS NULL
  ORDER BY device_id`;

/** Session names are indexed for the routing of pushes. */
export function sqliteInventories({ database, read, write }: SqliteContext): InventoryStore {
  const save = database.prepare(SAVE_INVENTORY);
  const removeNames = database.prepare("DELETE FROM session_names WHERE account = ? AND device_id = ?");
  const insertName = database.prepare(
    "INSERT INTO session_names (account, name, device_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const find = database.prepare<InventoryRow>(
    "SELECT * FROM inventories WHERE account = ? AND device_id = ?",
  );
  const list = database.prepare<InventoryRow>(
    "SELECT * FROM inventories WHERE account = ? ORDER BY device_id",
  );
  const bytesOf = database.prepare(INVENTORY_BYTES);
  const withSession = database.prepare(WITH_SESSION);

  return {
    saveInventory: ({ account, deviceId, sessions, details, reportedAt }) =>
      write(() => {
        const kept = details === undefined ? null : JSON.stringify(details);
        save.run(account, deviceId, JSON.stringify(sessions), kept, reportedAt);
        removeNames.run(account, deviceId);
        for (const { name } of sessions) insertName.run(account, name, deviceId);
      }),
    findInventory: ({ account, id }) =>
      read(() => {
        const row = find.get(account, id);
        return row && toInventory(row);
      }),
    inventoryBytes: (keyId, { account, id }) => read(() => Number(bytesOf.get(keyId, account, id)?.bytes)),
    listInventories: (account) => read(() => list.all(account).map(toInventory)),
    devicesWithSession: (account, name) =>
      read(() => withSession.all(account, name).map((row) => row.device_id as string)),
  };
}

export interface PairingRow {
  code_hash: Uint8Array;
  account: string;
  key_id: string;
  scopes: string;
  expires_at: number;
  offer: string | null;
  phone: string | null;
}

export const toPairing = (row: PairingRow): PairingRecord => ({
  codeHash: row.code_hash,
  account: row.account,
  keyId: row.key_id,
  scopes: row.scopes.split(" ") as Scope[],
  expiresAt: row.expires_at,
  ...(row.offer === null ? {} : { offer: JSON.parse(row.offer) as PairingOffer }),
});

/** Removes all but the newest of the key's claimed codes. */
const REMOVE_CLAIMED = `
  DELETE FROM pairings WHERE code_hash IN (
    SELECT code_hash FROM pairings WHERE key_id = ? AND taken = 1
    ORDER BY expires_at DESC LIMIT -1 OFFSET ?)`;

export function sqlitePairings({ database, read, write }: SqliteContext): PairingStore {
  const insert = database.prepare(
    "INSERT INTO pairings (code_hash, account, key_id, scopes, expires_at, offer) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const removeClaimed = database.prepare(REMOVE_CLAIMED);
  const take = database.prepare<PairingRow>(
    "UPDATE pairings SET taken = 1 WHERE code_hash = ? AND expires_at > ? AND taken = 0 RETURNING *",
  );
  const complete = database.prepare("UPDATE pairings SET phone = ? WHERE code_hash = ?");
  const find = database.prepare<PairingRow>("SELECT * FROM pairings WHERE code_hash = ?");
  const remove = database.prepare(
    "DELETE FROM pairings WHERE expires_at <= ? OR (taken = 0 AND expires_at <= ?)",
  );
  return {
    insertPairing: ({ codeHash, account, keyId, scopes, expiresAt, offer }) => {
      const offered = offer === undefined ? null : JSON.stringify(offer);
      return write(() => {
        insert.run(codeHash, account, keyId, scopes.join(" "), expiresAt, offered);
        removeClaimed.run(keyId, CLAIMED_PAIRINGS_PER_KEY);
      });
    },
    takePairing: (codeHash, now) =>
      write(() => {
        const row = take.get(codeHash, now);
        return row && toPairing(row);
      }),
    completePairing: (codeHash, phone) => write(() => void complete.run(JSON.stringify(phone), codeHash)),
    findPairing: (codeHash) =>
      read(() => {
        const row = find.get(codeHash);
        if (row === undefined) return undefined;
        const phone = row.phone === null ? {} : { phone: JSON.parse(row.phone) as PairedPhone };
        return { ...toPairing(row), ...phone };
      }),
    removePairings: ({ openBefore, takenBefore }) => write(() => void remove.run(takenBefore, openBefore)),
  };
}

const SAVE = `
  INSERT INTO web_push (account, device_id, subscription) VALUES (?, ?, ?)
  ON CONFLICT (account, device_id) DO UPDATE SET subscription = excluded.subscription`;

const SUBSCRIPTIONS = `
  SELECT web_push.device_id, subscription FROM web_push
    JOIN devices ON devices.account = web_push.account AND devices.id = web_push.device_id
    JOIN device_owners ON device_owners.account = web_push.account
      AND device_owners.device_id = web_push.device_id
    JOIN keys ON keys.id = key_id
  WHERE web_push.account = ? AND devices.revoked_at IS NULL AND keys.revoked_at IS NULL
  ORDER BY web_push.device_id`;

export function sqliteWebPush({ database, read, write }: SqliteContext): WebPushStore {
  const save = database.prepare(SAVE);
  const remove = database.prepare("DELETE FROM web_push WHERE account = ? AND device_id = ?");
  const removeEndpoint = database.prepare(
    "DELETE FROM web_push WHERE account = ? AND device_id = ? AND json_extract(subscription, '$.endpoint') = ?",
  );
  const find = database.prepare("SELECT subscription FROM web_push WHERE account = ? AND device_id = ?");
  const list = database.prepare(SUBSCRIPTIONS);
  const keep = database.prepare(
    "INSERT INTO secrets (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING",
  );
  const kept = database.prepare("SELECT value FROM secrets WHERE name = ?");
  const parse = (text: unknown): WebPushSubscription => JSON.parse(String(text));
  return {
    saveWebPush: ({ account, id }, subscription) =>
      write(() => void save.run(account, id, JSON.stringify(subscription))),
    removeWebPush: ({ account, id }, endpoint) =>
      write(() =>
        (endpoint === undefined ? remove.run(account, id) : removeEndpoint.run(account, id, endpoint)) > 0
      ),
    findWebPush: ({ account, id }) =>
      read(() => {
        const text = find.get(account, id)?.subscription;
        return text === undefined ? undefined : parse(text);
      }),
    listWebPush: (account) =>
      read(() => new Map(list.all(account).map((row) => [String(row.device_id), parse(row.subscription)]))),
    keepSecret: (name, made) =>
      write(() => {
        keep.run(name, made);
        return String(kept.get(name)?.value);
      }),
  };
}
