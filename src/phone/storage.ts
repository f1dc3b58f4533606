/** What the phone keeps across reloads, in IndexedDB: the account, encrypted, and the unsent messages. */
import { encodeUtf8 } from "../async/utf8.ts";
import * as z from "zod/mini";
import { parseJson } from "../protocol/json.ts";
import { AnswerData } from "../protocol/ask.ts";
import { DeviceId, PushId } from "../protocol/push.ts";

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
const WRAPPING_KEY = "wrapping";
const NONCE_BYTES = 12;
type StoreName = "account" | "outbox";

/** The account under a key that the browser keeps and does not give out. */
interface WrappedAccount {
  iv: Uint8Array<ArrayBuffer>;
  ciphertext: ArrayBuffer;
}

/** Without `cipher` (a page without cryptography) the account is kept as it is. */
export async function openStorage(factory: IDBFactory, cipher?: SubtleCrypto): Promise<PhoneStorage> {
  const database = await open(factory);
  const stored = (store: StoreName): IDBObjectStore => database.transaction(store).objectStore(store);
  const change = (stores: StoreName[], edit: (transaction: IDBTransaction) => void): Promise<void> =>
    committed(database.transaction(stores, "readwrite", { durability: "strict" }), edit);
  const put = (key: string, value: unknown): Promise<void> =>
    change(["account"], (transaction) => transaction.objectStore("account").put(value, key));
  const wrappingKey = async (subtle: SubtleCrypto): Promise<CryptoKey> => {
    const known = (): Promise<CryptoKey | undefined> => answer(stored("account").get(WRAPPING_KEY));
    const before = await known();
    if (before !== undefined) return before;
    const made = await subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]);
    // Two pages at once: the first one's key stays.
    await change(["account"], (transaction) => transaction.objectStore("account").add(made, WRAPPING_KEY))
      .catch(() => undefined);
    return await known() ?? made;
  };
  const writeAccount = async (account: Account): Promise<void> => {
    if (cipher === undefined) return await put(ACCOUNT_KEY, account);
    await put(ACCOUNT_KEY, await wrap(account, { cipher, key: await wrappingKey(cipher) }));
  };
  return {
    readAccount: async () => {
      const found: unknown = await answer(stored("account").get(ACCOUNT_KEY));
      const plain = Account.safeParse(found).data;
      // Earlier versions kept it so.
      if (plain !== undefined && cipher !== undefined) await writeAccount(plain);
      if (plain !== undefined || cipher === undefined || !isWrapped(found)) return plain;
      return await unwrap(found, { cipher, key: await wrappingKey(cipher) });
    },
    writeAccount,
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

function isWrapped(found: unknown): found is WrappedAccount {
  return typeof found === "object" && found !== null && "iv" in found && "ciphertext" in found;
}

interface Wrapping {
  cipher: SubtleCrypto;
  key: CryptoKey;
}

async function wrap(account: Account, { cipher, key }: Wrapping): Promise<WrappedAccount> {
  const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const text = encodeUtf8(JSON.stringify(account));
  return { iv, ciphertext: await cipher.encrypt({ name: "AES-GCM", iv }, key, text) };
}

/** Undefined for what this browser's key does not open: then the phone is signed out. */
async function unwrap(
  { iv, ciphertext }: WrappedAccount,
  { cipher, key }: Wrapping,
): Promise<Account | undefined> {
  try {
    const text = new TextDecoder().decode(await cipher.decrypt({ name: "AES-GCM", iv }, key, ciphertext));
    return Account.safeParse(parseJson(text)?.value).data;
  } catch {
    return undefined;
  }
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

export const Account = z.object({
  apiKey: z.string(),
  /** Given by the relay: at pairing, or with the first welcome. */
  deviceId: z.optional(DeviceId),
});
export type Account = z.infer<typeof Account>;

/** How a person tells one account from another: by what is short, and is no secret. */
export function accountName({ apiKey, deviceId }: Account): string {
  const key = `key ${apiKey.slice(0, KEY_SHOWN_CHARS)}…`;
  return deviceId === undefined ? key : `${deviceId} (${key})`;
}

/** The prefix and 24 bits of the key. */
const KEY_SHOWN_CHARS = 8;

/** A message that the relay has not taken yet, as the phone keeps it over a reload. */
export const OutboxEntry = z.object({
  id: PushId,
  deviceId: z.string(),
  session: z.string(),
  body: z.string(),
  createdAt: z.number(),
  sendAnyway: z.optional(z.boolean()),
  /** For an answer: the question, the answer where it is no text, and the host where it must be sealed. */
  answers: z.optional(z.object({
    question: PushId,
    data: z.optional(AnswerData),
    sealTo: z.optional(z.object({ deviceId: z.string(), session: z.string() })),
  })),
});
export type OutboxEntry = z.infer<typeof OutboxEntry>;
