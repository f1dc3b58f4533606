-- A database of schema version 7, as svc wrote it. Never edited: it stands for what users have.
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
  details TEXT,
  PRIMARY KEY (account, device_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE session_names (
  account TEXT NOT NULL,
  name TEXT NOT NULL,
  device_id TEXT NOT NULL,
  PRIMARY KEY (account, name, device_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_names_by_device ON session_names (account, device_id);

CREATE TABLE pairings (
  code_hash BLOB PRIMARY KEY,
  account TEXT NOT NULL,
  key_id TEXT NOT NULL,
  scopes TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  offer TEXT,
  taken INTEGER NOT NULL DEFAULT 0,
  phone TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE web_push (
  account TEXT NOT NULL,
  device_id TEXT NOT NULL,
  subscription TEXT NOT NULL,
  PRIMARY KEY (account, device_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE hooks (
  account TEXT NOT NULL,
  id TEXT NOT NULL,
  state TEXT NOT NULL,
  pushes INTEGER NOT NULL,
  first_seen INTEGER NOT NULL,
  last_seen INTEGER NOT NULL,
  PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE schema_version (version INTEGER NOT NULL) STRICT;
INSERT INTO schema_version VALUES (1), (2), (3), (4), (5), (6), (7), (8);
INSERT INTO accounts VALUES ('default', 1790000000000);
INSERT INTO keys VALUES
  ('key_old', 'default', 'phone', zeroblob(32), 'push:send push:read', NULL, 1790000000000, NULL),
  ('key_gone', 'default', 'lost', randomblob(32), 'push:read', NULL, 1790000000000, 1790000000001);
INSERT INTO devices VALUES
  ('default', 'dev_listener_0a1b2c3d', 'listener', 'host', '0.1.0', NULL, 1, 1790000000000, 1790000000002, NULL);
INSERT INTO keys VALUES
  ('key_up', 'default', 'workstation', randomblob(32), 'push:send push:read admin', NULL, 1790000000000, NULL),
  ('key_phone', 'default', 'iPhone', randomblob(32), 'push:send push:read', 'dev_phone_1', 1790000000000, NULL),
  ('key_clone', 'default', 'clone', randomblob(32), 'push:send push:read', 'dev_phone_2', 1790000000000, NULL),
  ('key_bound', 'default', 'by hand', randomblob(32), 'push:read', 'dev_listener_11111111', 1790000000000, NULL);
INSERT INTO devices VALUES
  ('default', 'dev_phone_1', 'phone', 'iPhone', '', NULL, 0, 1790000000000, 1790000000002, NULL),
  ('default', 'dev_phone_2', 'phone', 'clone', '', NULL, 0, 1790000000000, 1790000000002, NULL);
INSERT INTO hooks VALUES ('default', 'hook_1', 'muted', 3, 1790000000000, 1790000000002);
INSERT INTO revocations (kind, account, id) VALUES ('key', 'default', 'key_gone');
INSERT INTO pushes (account, id, target, digest, push, receipt, state, final, created_at, expires_at) VALUES (
  'default', '6f1c2d3e-0000-4000-8000-000000000001', 'dev_listener_0a1b2c3d', zeroblob(32),
  '{"id":"6f1c2d3e-0000-4000-8000-000000000001","type":"agent.command","targetDeviceId":"dev_listener_0a1b2c3d","agentSessionName":"svc-proj","body":"hello","from":"key_old","createdAt":1790000000003,"expiresAt":1790003600003}',
  '{"state":"held","reason":"dialog_open","final":false,"at":{"queued":1790000000003,"held":1790000000004}}',
  'held', 0, 1790000000003, 1790003600003);
INSERT INTO inventories (account, device_id, sessions, reported_at) VALUES (
  'default', 'dev_listener_0a1b2c3d',
  '[{"name":"svc-proj","project":"proj","agent":"cc","agentLabel":"Claude","ordinal":1,"label":"proj · Claude","state":"idle","stateSince":1,"attached":false,"lastActivity":1,"cwd":"/p","title":"","cols":80,"rows":24,"muted":false,"addressable":true}]',
  1790000000005);
INSERT INTO session_names VALUES ('default', 'svc-proj', 'dev_listener_0a1b2c3d');
INSERT INTO pairings VALUES (zeroblob(32), 'default', 'key_old', 'push:send push:read', 1790000600000, NULL, 0, NULL);
INSERT INTO pairings VALUES
  (randomblob(32), 'default', 'key_up', 'push:send push:read', 1790000600000, NULL, 1, '{"deviceId":"dev_phone_1","name":"iPhone"}'),
  (randomblob(32), 'default', 'key_phone', 'push:send push:read', 1790000600000, NULL, 1, '{"deviceId":"dev_phone_2","name":"clone"}');

-- The columns and tables of version 5.
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
  CASE WHEN device_id LIKE 'dev\_listener\_%' ESCAPE '\' THEN 'listener'
       WHEN device_id LIKE 'dev\_phone\_%' ESCAPE '\' THEN 'phone' END)
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
INSERT INTO web_push VALUES ('default', 'dev_phone_1', '{"endpoint":"https://push.example/1","keys":{"p256dh":"x","auth":"y"}}');

-- The table of version 6.
CREATE TABLE secrets (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO secrets VALUES ('kept', 'secret');

-- The index and the table of version 7.
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
