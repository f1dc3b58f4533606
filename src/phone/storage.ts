/** What the phone keeps over a reload, in IndexedDB: the account, and the messages that are not sent. */
import * as z from "zod/mini";
import { Account, OutboxEntry } from "./account.ts";

export interface PhoneStorage {
  readAccount(): Promise<Account | undefined>;
  writeAccount(account: Account): Promise<void>;
  readOutbox(): Promise<OutboxEntry[]>;
  /** Resolves once the entry would survive a reload. */
  putOutbox(entry: OutboxEntry): Promise<void>;
  removeOutbox(id: string): Promise<void>;
  /** Forgets the account and the outbox. */
  clear(): Promise<void>;
}

const DATABASE = "svc";
const VERSION = 1;
const ACCOUNT_KEY = "current";
type StoreName = "account" | "outbox";

export async function openStorage(factory: IDBFactory): Promise<PhoneStorage> {
  const database = await open(factory);
  const stored = (store: StoreName): IDBObjectStore => database.transaction(store).objectStore(store);
  const change = (stores: StoreName[], edit: (transaction: IDBTransaction) => void): Promise<void> =>
    committed(database.transaction(stores, "readwrite", { durability: "strict" }), edit);
  return {
    readAccount: async () => Account.safeParse(await answer(stored("account").get(ACCOUNT_KEY))).data,
    writeAccount: (account) =>
      change(["account"], (transaction) => transaction.objectStore("account").put(account, ACCOUNT_KEY)),
    readOutbox: async () =>
      z.array(OutboxEntry).safeParse(await answer(stored("outbox").getAll())).data ?? [],
    putOutbox: (entry) => change(["outbox"], (transaction) => transaction.objectStore("outbox").put(entry)),
    removeOutbox: (id) => change(["outbox"], (transaction) => transaction.objectStore("outbox").delete(id)),
    clear: () =>
      change(["account", "outbox"], (transaction) => {
        transaction.objectStore("account").clear();
        transaction.objectStore("outbox").clear();
      }),
  };
}

function open(factory: IDBFactory): Promise<IDBDatabase> {
  const request = factory.open(DATABASE, VERSION);
  request.onupgradeneeded = () => {
    request.result.createObjectStore("account");
    request.result.createObjectStore("outbox", { keyPath: "id" });
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
