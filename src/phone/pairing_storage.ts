/** What pairing stores on the phone, in IndexedDB: the phone's key pair, the paired hosts, and sent messages. */
import type { DBSchema, IDBPDatabase } from "idb";
import type { PairedHost } from "../client/claim_pairing.ts";
import type { Later, SealedBody } from "../protocol/push.ts";
import type { Receipt } from "../protocol/receipt.ts";
import { openAny, reopening, STRICT, write } from "./database.ts";

/** What a sealed text is bound to. The relay's record of the message may say something else. */
export interface BoundTo {
  type: string;
  deviceId: string;
  session: string;
  sendAnyway?: boolean | undefined;
  later?: Later | undefined;
  /** For a cancellation, the id of the message; for an answer, of the question. */
  inReplyTo?: string | undefined;
}

/** The form in which a message was first sent: it must be resent byte for byte. */
export interface SentForm {
  id: string;
  /** Epoch milliseconds. */
  sentAt: number;
  /** `plain`, or what was sent in place of the text. */
  form: "plain" | SealedBody;
  /** The text of a sealed message, which the phone cannot get back from anyone else. */
  body?: string;
  /** Set with `body`, except by earlier versions. */
  boundTo?: BoundTo;
  /** The host may act on it until then, in epoch milliseconds by this phone's clock. Not stored by earlier versions. */
  notAfter?: number;
  /** The paired host that has to prove its receipts. */
  host?: string;
  /** Its final receipt, once proven: after pairing again, an old proof can no longer be checked. */
  end?: Receipt;
}

export interface PairingStorage {
  /** Created on the first call. The private key cannot be extracted from WebCrypto. */
  ownKeys(): Promise<CryptoKeyPair>;
  /** The next number for a sealed message. Never returned twice, not even by two pages at once or after a reload. */
  nextCounter(): Promise<number>;
  readHosts(): Promise<PairedHost[]>;
  putHost(host: PairedHost): Promise<void>;
  removeHost(deviceId: string): Promise<void>;
  readSent(ids: readonly string[]): Promise<SentForm[]>;
  /**
   * Stores the entry unless another page has stored one with its id. Resolves to the stored one once it survives a
   * reload.
   */
  addSent(sent: SentForm): Promise<SentForm>;
  /** Resolves once the entry survives a reload. Drops the oldest beyond `SENT_MAX`. */
  putSent(sent: SentForm): Promise<void>;
  clear(): Promise<void>;
}

/** The phone keeps the text of this many sent messages. */
const SENT_MAX = 2_000;

const OWN = "own";
const COUNTER = "counter";

interface Schema extends DBSchema {
  keys: { key: string; value: CryptoKeyPair | number };
  hosts: { key: string; value: PairedHost };
  sent: { key: string; value: SentForm; indexes: { sentAt: number } };
}

/** The browser stores a CryptoKey as it is: one that is not extractable stays so. */
export async function openPairingStorage(makeKeys: () => Promise<CryptoKeyPair>): Promise<PairingStorage> {
  const database = reopening(() =>
    openAny<Schema>("svc-keys", 1, (created) => {
      created.createObjectStore("keys");
      created.createObjectStore("hosts", { keyPath: "deviceId" });
      created.createObjectStore("sent", { keyPath: "id" }).createIndex("sentAt", "sentAt");
    })
  );
  await database(() => Promise.resolve());
  return {
    ownKeys: () => database((one) => ownKeys(one, makeKeys)),
    nextCounter: () => database(nextCounter),
    readHosts: () => database((one) => one.getAll("hosts")),
    putHost: (host) => database((one) => write(one, "hosts", (store) => store.put(host))),
    removeHost: (deviceId) => database((one) => write(one, "hosts", (store) => store.delete(deviceId))),
    readSent: (ids) => database((one) => readSent(one, ids)),
    addSent: (entry) => database((one) => addSent(one, entry)),
    putSent: (entry) =>
      database(async (one) => {
        await write(one, "sent", (store) => store.put(entry));
        await dropOldest(one);
      }),
    clear: () =>
      database(async (one) => {
        for (const name of ["keys", "hosts", "sent"] as const) {
          await write(one, name, (store) => store.clear());
        }
      }),
  };
}

async function readSent(database: IDBPDatabase<Schema>, ids: readonly string[]): Promise<SentForm[]> {
  const { store } = database.transaction("sent");
  const found = await Promise.all(ids.map((id) => store.get(id)));
  return found.filter((one) => one !== undefined);
}

async function addSent(database: IDBPDatabase<Schema>, entry: SentForm): Promise<SentForm> {
  const { store, done } = database.transaction("sent", "readwrite", STRICT);
  const first = await store.get(entry.id);
  await Promise.all([first ?? store.add(entry), done]);
  await dropOldest(database);
  return first ?? entry;
}

async function ownKeys(
  database: IDBPDatabase<Schema>,
  makeKeys: () => Promise<CryptoKeyPair>,
): Promise<CryptoKeyPair> {
  const known = await database.get("keys", OWN);
  if (typeof known === "object") return known;
  const made = await makeKeys();
  // Another page may have added its keys in the meantime: the first ones stay.
  await write(database, "keys", (store) => store.add(made, OWN)).catch(() => undefined);
  const kept = await database.get("keys", OWN);
  return typeof kept === "object" ? kept : made;
}

async function nextCounter(database: IDBPDatabase<Schema>): Promise<number> {
  const { store, done } = database.transaction("keys", "readwrite", STRICT);
  const last = await store.get(COUNTER);
  const next = (typeof last === "number" && Number.isSafeInteger(last) ? last : 0) + 1;
  await Promise.all([store.put(next, COUNTER), done]);
  return next;
}

async function dropOldest(database: IDBPDatabase<Schema>): Promise<void> {
  const { store, done } = database.transaction("sent", "readwrite", STRICT);
  let excess = await store.count() - SENT_MAX;
  let cursor = excess > 0 ? await store.index("sentAt").openCursor() : null;
  for (; cursor !== null && excess > 0; excess--) {
    await cursor.delete();
    cursor = await cursor.continue();
  }
  await done;
}
