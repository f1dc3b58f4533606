/** The schema as numbered migrations: an older database is upgraded step by step, a newer one is refused. */
import type { Database } from "../runtime/sqlite.ts";
import { StoreUnavailable } from "./store.ts";

const CORE = `
  CREATE TABLE accounts (id TEXT PRIMARY KEY, created_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE keys (
    id TEXT PRIMARY KEY,
    account TEXT NOT NULL REFERENCES accounts (id),
    name TEXT NOT NULL,
    hash BLOB NOT NULL UNIQUE,
    scopes TEXT NOT NULL,
    device_id TEXT,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
  ) STRICT;

  CREATE TABLE devices (
    account TEXT NOT NULL REFERENCES accounts (id),
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    public_key TEXT,
    online INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    last_seen INTEGER NOT NULL,
    revoked_at INTEGER,
    PRIMARY KEY (account, id)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE revocations (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    account TEXT NOT NULL,
    id TEXT NOT NULL
  ) STRICT;

  CREATE TABLE pushes (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL REFERENCES accounts (id),
    id TEXT NOT NULL,
    target TEXT,
    digest BLOB NOT NULL,
    push TEXT NOT NULL,
    receipt TEXT NOT NULL,
    state TEXT NOT NULL,
    final INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    UNIQUE (account, id)
  ) STRICT;
  CREATE INDEX pushes_by_account ON pushes (account, seq);
  CREATE INDEX open_pushes ON pushes (account, target, seq) WHERE final = 0;
  CREATE INDEX due_pushes ON pushes (seq, expires_at) WHERE final = 0;
  CREATE INDEX pushes_by_age ON pushes (created_at);

  CREATE TABLE inventories (
    account TEXT NOT NULL,
    device_id TEXT NOT NULL,
    sessions TEXT NOT NULL,
    reported_at INTEGER NOT NULL,
    PRIMARY KEY (account, device_id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE session_names (
    account TEXT NOT NULL,
    name TEXT NOT NULL,
    device_id TEXT NOT NULL,
    PRIMARY KEY (account, name, device_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX session_names_by_device ON session_names (account, device_id);
`;

const PHONES = `
  CREATE TABLE pairings (
    code_hash BLOB PRIMARY KEY,
    account TEXT NOT NULL,
    key_id TEXT NOT NULL,
    scopes TEXT NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE web_push (
    account TEXT NOT NULL,
    device_id TEXT NOT NULL,
    subscription TEXT NOT NULL,
    PRIMARY KEY (account, device_id)
  ) STRICT, WITHOUT ROWID;
`;

const OFFERS = `
  ALTER TABLE pairings ADD COLUMN offer TEXT;
  ALTER TABLE pairings ADD COLUMN taken INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE pairings ADD COLUMN phone TEXT;
`;

const HOOKS = `
  CREATE TABLE hooks (
    account TEXT NOT NULL,
    id TEXT NOT NULL,
    state TEXT NOT NULL,
    pushes INTEGER NOT NULL,
    first_seen INTEGER NOT NULL,
    last_seen INTEGER NOT NULL,
    PRIMARY KEY (account, id)
  ) STRICT, WITHOUT ROWID;
`;

/**
 * Bound keys now own their device; any other device goes to the first key that connects with its id. Which pairing
 * created a key is read from the pairing's claim, if it is still stored.
 */
const OWNERS = `
  ALTER TABLE keys ADD COLUMN role TEXT;
  ALTER TABLE keys ADD COLUMN parent TEXT;
  CREATE INDEX keys_by_parent ON keys (parent);

  CREATE TABLE device_owners (
    account TEXT NOT NULL,
    device_id TEXT NOT NULL,
    key_id TEXT NOT NULL,
    PRIMARY KEY (account, device_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX device_owners_by_key ON device_owners (key_id);

  UPDATE keys SET role = coalesce(
    (SELECT kind FROM devices WHERE devices.account = keys.account AND devices.id = keys.device_id),
    CASE WHEN device_id LIKE 'dev\\_listener\\_%' ESCAPE '\\' THEN 'listener'
         WHEN device_id LIKE 'dev\\_phone\\_%' ESCAPE '\\' THEN 'phone' END)
    WHERE device_id IS NOT NULL;
  UPDATE keys SET parent = (
    SELECT key_id FROM pairings
      WHERE pairings.account = keys.account AND key_id <> keys.id
        AND json_extract(phone, '$.deviceId') = keys.device_id
      ORDER BY expires_at LIMIT 1)
    WHERE role = 'phone';
  INSERT INTO device_owners (account, device_id, key_id)
    SELECT account, device_id, max(id) FROM keys
      WHERE device_id IS NOT NULL AND revoked_at IS NULL GROUP BY account, device_id;

  CREATE INDEX pairings_by_key ON pairings (key_id, expires_at);
`;

/** The relay's own secrets, such as its VAPID key pair. */
const SECRETS = `
  CREATE TABLE secrets (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
`;

/** Finds due and expired pushes without reading all others. Also removes the inventories of revoked devices. */
const STORED = `
  DROP INDEX due_pushes;
  CREATE INDEX open_pushes_by_expiry ON pushes (expires_at, seq) WHERE final = 0;
  CREATE INDEX expired_pushes ON pushes (expires_at) WHERE state = 'expired';

  CREATE TABLE stored_bytes (
    account TEXT NOT NULL,
    sender TEXT NOT NULL,
    bytes REAL NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (account, sender)
  ) STRICT, WITHOUT ROWID;

  DELETE FROM inventories WHERE NOT EXISTS (
    SELECT 1 FROM devices
    WHERE devices.account = inventories.account AND devices.id = device_id AND revoked_at IS NULL);
`;

/** What a listener reports in addition to its sessions. */
const DETAILS = `
  ALTER TABLE inventories ADD COLUMN details TEXT;
`;

/** Finds a listener's open cancellations without reading its other open pushes. */
const CANCELS = `
  CREATE INDEX open_cancels ON pushes (account, target, seq)
    WHERE final = 0 AND json_extract(push, '$.type') = 'agent.cancel';
`;

/** Step n upgrades version n to version n + 1. Never edit a released step: add a new one. */
export const MIGRATIONS: readonly string[] = [
  ...[CORE, PHONES, OFFERS, HOOKS, OWNERS, SECRETS, STORED, DETAILS],
  CANCELS,
];

function schemaVersion(database: Database): number {
  database.exec("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL) STRICT");
  return Number(database.prepare("SELECT max(version) AS version FROM schema_version").get()?.version ?? 0);
}

function apply(database: Database, newest: number): void {
  const version = schemaVersion(database);
  if (version > newest) {
    throw new StoreUnavailable(
      `Cannot open the database: its schema has version ${version}, this svc supports versions up to ${newest}; ` +
        `start the svc that wrote it, or a newer one`,
    );
  }
  const record = database.prepare("INSERT INTO schema_version (version) VALUES (?)");
  for (const [index, step] of MIGRATIONS.slice(0, newest).entries()) {
    if (index < version) continue;
    database.exec(step);
    record.run(index + 1);
  }
}

/** Upgrades the schema to `newest` in one transaction: all steps or none. */
export function migrate(database: Database, newest = MIGRATIONS.length): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    apply(database, newest);
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}
