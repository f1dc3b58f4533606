/** What pairing leaves on the phone, in IndexedDB: its key pair, its hosts, and how its messages were sent. */
import type { SealedBody } from "../protocol/push.ts";
import type { Receipt } from "../protocol/receipt.ts";
import type { PairedHost } from "../client/claim_pairing.ts";

/** How a message went out first; sent again it must be the same, byte for byte. */
export interface SentForm {
  id: string;
  /** Epoch milliseconds. */
  sentAt: number;
  /** `plain`, or what the relay got in place of the text. */
  form: "plain" | SealedBody;
  /** The text of a sealed message, which nobody else can tell this phone later. */
  body?: string;
  /** The paired host that proves what becomes of it. */
  host?: string;
  /** How it ended, once that was proven: pairing again makes an old proof unreadable. */
  end?: Receipt;
}

export interface PairingStorage {
  /** Made at the first call; its private half never leaves WebCrypto. */
  ownKeys(): Promise<CryptoKeyPair>;
  /** The next number for a sealed message: never given out twice, also by two pages at once, or over a reload. */
  nextCounter(): Promise<number>;
  readHosts(): Promise<PairedHost[]>;
  putHost(host: PairedHost): Promise<void>;
  removeHost(deviceId: string): Promise<void>;
  readSent(ids: readonly string[]): Promise<SentForm[]>;
  /** Resolves once it would survive a reload. Forgets the oldest beyond `SENT_MAX`. */
  putSent(sent: SentForm): Promise<void>;
  clear(): Promise<void>;
}

/** Messages whose text the phone keeps. */
export const SENT_MAX = 2_000;

const DATABASE = "svc-keys";
const VERSION = 1;
const OWN = "own";
const COUNTER = "counter";
const STORES = ["keys", "hosts", "sent"] as const;
type StoreName = (typeof STORES)[number];

/** The browser keeps a CryptoKey as it is: what is not extractable stays so. */
export async function openPairingStorage(
  factory: IDBFactory,
  makeKeys: () => Promise<CryptoKeyPair>,
): Promise<PairingStorage> {
  const database = await open(factory);
  const stored = (store: StoreName): IDBObjectStore => database.transaction(store).objectStore(store);
  const change = (store: StoreName, edit: (objects: IDBObjectStore) => void): Promise<void> =>
    committed(
      database.transaction(store, "readwrite", { durability: "strict" }),
      (transaction) => edit(transaction.objectStore(store)),
    );
  const known = (): Promise<CryptoKeyPair | undefined> => answer(stored("keys").get(OWN));
  return {
    ownKeys: async () => {
      const before = await known();
      if (before !== undefined) return before;
      const made = await makeKeys();
      // Two pages at once: the first one's key stays.
      await change("keys", (keys) => void keys.add(made, OWN)).catch(() => undefined);
      return await known() ?? made;
    },
    nextCounter: async () => {
      let next = 1;
      await change("keys", (keys) => {
        const last = keys.get(COUNTER);
        last.onsuccess = () => {
          next = (Number.isSafeInteger(last.result) ? last.result : 0) + 1;
          keys.put(next, COUNTER);
        };
      });
      return next;
    },
    readHosts: () => answer(stored("hosts").getAll()),
    putHost: (host) => change("hosts", (hosts) => hosts.put(host)),
    removeHost: (deviceId) => change("hosts", (hosts) => hosts.delete(deviceId)),
    readSent: async (ids) => {
      const sent = stored("sent");
      const found = await Promise.all(ids.map((id) => answer<SentForm | undefined>(sent.get(id))));
      return found.filter((one) => one !== undefined);
    },
    putSent: async (entry) => {
      await change("sent", (sent) => sent.put(entry));
      await forgetOldest(change);
    },
    clear: async () => {
      for (const store of STORES) await change(store, (objects) => objects.clear());
    },
  };
}

async function forgetOldest(
  change: (store: "sent", edit: (objects: IDBObjectStore) => void) => Promise<void>,
): Promise<void> {
  await change("sent", (sent) => {
    const count = sent.count();
    count.onsuccess = () => {
      let excess = count.result - SENT_MAX;
      if (excess <= 0) return;
      const oldest = sent.index("sentAt").openCursor();
      oldest.onsuccess = () => {
        const cursor = oldest.result;
        if (cursor === null || excess-- <= 0) return;
        cursor.delete();
        cursor.continue();
      };
    };
  });
}

function open(factory: IDBFactory): Promise<IDBDatabase> {
  const request = factory.open(DATABASE, VERSION);
  request.onupgradeneeded = () => {
    request.result.createObjectStore("keys");
    request.result.createObjectStore("hosts", { keyPath: "deviceId" });
    request.result.createObjectStore("sent", { keyPath: "id" }).createIndex("sentAt", "sentAt");
  };
  return answer(request);
}

function answer<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function committed(transaction: IDBTransaction, edit: (transaction: IDBTransaction) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
    edit(transaction);
  });
}
