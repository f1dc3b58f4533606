/** Copying all of a store in SQLite, and writing a copy into one. */
import type { WebPushSubscription } from "../protocol/web_push.ts";
import type { SqlRow } from "../runtime/sqlite.ts";
import type { SqliteContext } from "./sqlite_context.ts";
import {
  type DeviceRow,
  type InventoryRow,
  type PairingRow,
  toDevice,
  toInventory,
  toPairing,
} from "./sqlite_devices.ts";
import { type KeyRow, toKey } from "./sqlite_keys.ts";
import { type HookRow, type PushRow, toHook, toPushes } from "./sqlite_pushes.ts";
import {
  type AccountCopy,
  type CopyStore,
  type PairedPhone,
  type StoredPush,
  StoreUnavailable,
} from "./store.ts";

/** The name of a secret that marks a store which holds nothing but a copy. */
const MARK = "copy";
/** Pushes that are read at a time. */
const READ_AT_ONCE = 500;

export interface SqliteCopies extends Omit<CopyStore, "isInUse"> {
  /** Removes the mark of a copy, because a relay uses the store from now on: no copy may replace what it stores. */
  forgetCopy(): Promise<void>;
}

export function sqliteCopies(context: SqliteContext): SqliteCopies {
  const { database, read, write } = context;
  const accounts = database.prepare("SELECT id FROM accounts ORDER BY id");
  const secrets = database.prepare("SELECT name, value FROM secrets WHERE name <> ? ORDER BY name");
  const keep = database.prepare(
    "INSERT INTO secrets (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
  );
  const marks = database.prepare("SELECT value FROM secrets WHERE name = ?");
  const unmark = database.prepare("DELETE FROM secrets WHERE name = ?");
  const isMarked = (): boolean => marks.get(MARK) !== undefined;
  const readAccount = accountReader(context);
  const writeAccount = accountWriter(context);
  const writePush = pushWriter(context);
  return {
    accountIds: () => read(() => accounts.all().map(({ id }) => String(id))),
    readAccount: (account) => read(() => readAccount(account)),
    readSecrets: () =>
      read(() => Object.fromEntries(secrets.all(MARK).map(({ name, value }) => [name, String(value)]))),
    readPushes: () => pushPages(context),
    beginCopy: () =>
      write(() => {
        const isEmpty = accounts.all().length === 0 && secrets.all(MARK).length === 0;
        if (!isEmpty && !isMarked()) {
          throw new StoreUnavailable(
            "Cannot copy into this folder: a relay has stored its own data in it; name an empty folder",
          );
        }
        keep.run(MARK, "");
      }),
    writeAccount: (copy) => write(() => writeAccount(copy)),
    writeSecrets: (found) =>
      write(() => {
        for (const [name, value] of Object.entries(found)) keep.run(name, value);
      }),
    writePushes: (pushes) =>
      write(() => {
        const outcomes = pushes.map(writePush);
        return {
          added: outcomes.filter((one) => one === "added").length,
          changed: outcomes.filter((one) => one === "changed").length,
        };
      }),
    // The lock has kept every relay away.
    endCopy: () => Promise.resolve(),
    forgetCopy: () => write(() => void unmark.run(MARK)),
  };
}

async function* pushPages({ database, read }: SqliteContext): AsyncIterable<readonly StoredPush[]> {
  const page = database.prepare<PushRow>("SELECT * FROM pushes WHERE seq > ? ORDER BY seq LIMIT ?");
  for (let after = 0;;) {
    const pushes = await read(() => toPushes(page.all(after, READ_AT_ONCE)));
    if (pushes.length === 0) return;
    yield pushes;
    after = pushes.at(-1)?.seq ?? after;
  }
}

const OF_ACCOUNT = {
  keys: "SELECT * FROM keys WHERE account = ? ORDER BY created_at, id",
  devices: "SELECT * FROM devices WHERE account = ? ORDER BY created_at, id",
  owners: "SELECT device_id AS name, key_id AS value FROM device_owners WHERE account = ?",
  pairings: "SELECT * FROM pairings WHERE account = ? ORDER BY code_hash",
  webPush: "SELECT device_id AS name, subscription AS value FROM web_push WHERE account = ?",
  inventories: "SELECT * FROM inventories WHERE account = ? ORDER BY device_id",
  hooks: "SELECT * FROM hooks WHERE account = ? ORDER BY first_seen, id",
  charges: "SELECT sender AS name, bytes, at FROM stored_bytes WHERE account = ?",
};

function accountReader({ database }: SqliteContext): (account: string) => AccountCopy {
  const of = <R>(sql: string): (account: string) => R[] => {
    const statement = database.prepare<R>(sql);
    return (account) => statement.all(account);
  };
  const keys = of<KeyRow>(OF_ACCOUNT.keys);
  const devices = of<DeviceRow>(OF_ACCOUNT.devices);
  const owners = of<SqlRow>(OF_ACCOUNT.owners);
  const pairings = of<PairingRow & { taken: number }>(OF_ACCOUNT.pairings);
  const webPush = of<SqlRow>(OF_ACCOUNT.webPush);
  const inventories = of<InventoryRow>(OF_ACCOUNT.inventories);
  const hooks = of<HookRow>(OF_ACCOUNT.hooks);
  const charges = of<SqlRow>(OF_ACCOUNT.charges);
  return (account) => ({
    account,
    keys: keys(account).map(toKey),
    devices: devices(account).map(toDevice),
    owners: Object.fromEntries(owners(account).map(({ name, value }) => [name, String(value)])),
    pairings: pairings(account).map((row) => ({
      ...toPairing(row),
      taken: row.taken === 1,
      ...(row.phone === null ? {} : { phone: JSON.parse(row.phone) as PairedPhone }),
    })),
    webPush: Object.fromEntries(
      webPush(account).map(({ name, value }) => [name, JSON.parse(String(value)) as WebPushSubscription]),
    ),
    inventories: inventories(account).map(toInventory),
    hooks: hooks(account).map(toHook),
    charges: Object.fromEntries(
      charges(account).map(({ name, bytes, at }) => [name, { bytes: Number(bytes), at: Number(at) }]),
    ),
  });
}

/** Returns a function that inserts a row with these columns. */
function inserter({ database }: SqliteContext, table: string, columns: string) {
  const places = columns.split(", ").map(() => "?").join(", ");
  const statement = database.prepare(`INSERT INTO ${table} (${columns}) VALUES (${places})`);
  return (values: readonly (SqlRow[string] | undefined)[]): void => {
    statement.run(...values.map((value) => value ?? null));
  };
}

const TABLES = [
  "keys",
  "devices",
  "device_owners",
  "pairings",
  "web_push",
  "inventories",
  "session_names",
  "hooks",
  "stored_bytes",
];

function accountWriter(context: SqliteContext): (copy: AccountCopy) => void {
  const { database } = context;
  const forget = TABLES.map((table) => database.prepare(`DELETE FROM ${table} WHERE account = ?`));
  const addAccount = database.prepare(
    "INSERT INTO accounts (id, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING",
  );
  const writeKeys = keyWriter(context);
  const writeDevices = deviceWriter(context);
  const writeRest = restWriter(context);
  return (copy) => {
    for (const statement of forget) statement.run(copy.account);
    addAccount.run(copy.account, Math.min(...copy.keys.map(({ createdAt }) => createdAt), Date.now()));
    writeKeys(copy);
    writeDevices(copy);
    writeRest(copy);
  };
}

function keyWriter(context: SqliteContext): (copy: AccountCopy) => void {
  const addKey = inserter(
    context,
    "keys",
    "id, account, name, hash, scopes, role, device_id, parent, created_at, revoked_at",
  );
  const addPairing = inserter(
    context,
    "pairings",
    "code_hash, account, key_id, scopes, expires_at, offer, taken, phone",
  );
  return ({ account, keys, pairings }) => {
    for (const key of keys) {
      const { id, name, hash, scopes, role, deviceId, parent, createdAt, revokedAt } = key;
      addKey([id, account, name, hash, scopes.join(" "), role, deviceId, parent, createdAt, revokedAt]);
    }
    for (const { codeHash, keyId, scopes, expiresAt, offer, taken, phone } of pairings) {
      const [offered, phoned] = [offer, phone].map((one) => one && JSON.stringify(one));
      addPairing([codeHash, account, keyId, scopes.join(" "), expiresAt, offered, Number(taken), phoned]);
    }
  };
}

function deviceWriter(context: SqliteContext): (copy: AccountCopy) => void {
  const addDevice = inserter(
    context,
    "devices",
    "account, id, kind, name, version, public_key, online, created_at, last_seen, revoked_at",
  );
  const addOwner = inserter(context, "device_owners", "account, device_id, key_id");
  const addWebPush = inserter(context, "web_push", "account, device_id, subscription");
  return ({ account, devices, owners, webPush }) => {
    for (const device of devices) {
      const { id, kind, name, version, publicKey, createdAt, lastSeen, revokedAt } = device;
      addDevice([account, id, kind, name, version, publicKey, 0, createdAt, lastSeen, revokedAt]);
    }
    for (const [device, key] of Object.entries(owners)) addOwner([account, device, key]);
    for (const [device, one] of Object.entries(webPush)) addWebPush([account, device, JSON.stringify(one)]);
  };
}

function restWriter(context: SqliteContext): (copy: AccountCopy) => void {
  const addInventory = inserter(context, "inventories", "account, device_id, sessions, details, reported_at");
  const addName = inserter(context, "session_names", "account, name, device_id");
  const addHook = inserter(context, "hooks", "account, id, state, pushes, first_seen, last_seen");
  const addCharge = inserter(context, "stored_bytes", "account, sender, bytes, at");
  return ({ account, inventories, hooks, charges }) => {
    for (const { deviceId, sessions, details, reportedAt } of inventories) {
      const kept = details && JSON.stringify(details);
      addInventory([account, deviceId, JSON.stringify(sessions), kept, reportedAt]);
      for (const name of new Set(sessions.map((one) => one.name))) addName([account, name, deviceId]);
    }
    for (const { id, state, pushes, firstSeen, lastSeen } of hooks) {
      addHook([account, id, state, pushes, firstSeen, lastSeen]);
    }
    for (const [sender, { bytes, at }] of Object.entries(charges)) addCharge([account, sender, bytes, at]);
  };
}

const ADD_PUSH = `
  INSERT INTO pushes (account, id, target, digest, push, receipt, state, final, created_at, expires_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (account, id) DO NOTHING`;
const CHANGE_PUSH = `
  UPDATE pushes SET receipt = ?1, state = ?2, final = ?3 WHERE account = ?4 AND id = ?5 AND receipt <> ?1`;

function pushWriter({ database }: SqliteContext): (stored: StoredPush) => "added" | "changed" | "same" {
  const add = database.prepare(ADD_PUSH);
  const change = database.prepare(CHANGE_PUSH);
  return ({ account, target, digest, push, receipt }) => {
    const { id, createdAt, expiresAt } = push;
    const text = JSON.stringify(receipt);
    const state = [receipt.state, Number(receipt.final)] as const;
    const values = [account, id, target ?? null, digest, JSON.stringify(push), text, ...state];
    if (add.run(...values, createdAt, expiresAt) > 0) return "added";
    return change.run(text, ...state, account, id) > 0 ? "changed" : "same";
  };
}
