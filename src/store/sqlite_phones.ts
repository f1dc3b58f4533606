/** Pairing codes, Web Push subscriptions and the relay's own secrets in SQLite. */
import type { PairingOffer, Scope } from "../protocol/http.ts";
import type { WebPushSubscription } from "../protocol/web_push.ts";
import type { SqliteContext } from "./sqlite_context.ts";
import type { PairedPhone, PairingRecord, PairingStore, WebPushStore } from "./store.ts";

interface PairingRow {
  code_hash: Uint8Array;
  account: string;
  key_id: string;
  scopes: string;
  expires_at: number;
  offer: string | null;
  phone: string | null;
}

const toPairing = (row: PairingRow): PairingRecord => ({
  codeHash: row.code_hash,
  account: row.account,
  keyId: row.key_id,
  scopes: row.scopes.split(" ") as Scope[],
  expiresAt: row.expires_at,
  ...(row.offer === null ? {} : { offer: JSON.parse(row.offer) as PairingOffer }),
});

export function sqlitePairings({ database, read, write }: SqliteContext): PairingStore {
  const insert = database.prepare(
    "INSERT INTO pairings (code_hash, account, key_id, scopes, expires_at, offer) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const take = database.prepare(
    "UPDATE pairings SET taken = 1 WHERE code_hash = ? AND expires_at > ? AND taken = 0 RETURNING *",
  );
  const complete = database.prepare("UPDATE pairings SET phone = ? WHERE code_hash = ?");
  const find = database.prepare("SELECT * FROM pairings WHERE code_hash = ?");
  const remove = database.prepare(
    "DELETE FROM pairings WHERE expires_at <= ? OR (taken = 0 AND expires_at <= ?)",
  );
  return {
    insertPairing: ({ codeHash, account, keyId, scopes, expiresAt, offer }) => {
      const offered = offer === undefined ? null : JSON.stringify(offer);
      return write(() => void insert.run(codeHash, account, keyId, scopes.join(" "), expiresAt, offered));
    },
    takePairing: (codeHash, now) =>
      write(() => {
        const row = take.get(codeHash, now) as unknown as PairingRow | undefined;
        return row && toPairing(row);
      }),
    completePairing: (codeHash, phone) => write(() => void complete.run(JSON.stringify(phone), codeHash)),
    findPairing: (codeHash) =>
      read(() => {
        const row = find.get(codeHash) as unknown as PairingRow | undefined;
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

export function sqliteWebPush({ database, read, write }: SqliteContext): WebPushStore {
  const save = database.prepare(SAVE);
  const remove = database.prepare("DELETE FROM web_push WHERE account = ? AND device_id = ?");
  const removeEndpoint = database.prepare(
    "DELETE FROM web_push WHERE account = ? AND device_id = ? AND json_extract(subscription, '$.endpoint') = ?",
  );
  const find = database.prepare("SELECT subscription FROM web_push WHERE account = ? AND device_id = ?");
  const list = database.prepare(
    "SELECT device_id, subscription FROM web_push WHERE account = ? ORDER BY device_id",
  );
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
