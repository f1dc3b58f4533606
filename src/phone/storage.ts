/** What the phone keeps across reloads, in IndexedDB: the account and the last list, encrypted, unsent messages, drafts. */
import { type DBSchema, type IDBPDatabase, openDB } from "idb";
import * as z from "zod/mini";
import { encodeUtf8 } from "../async/encodings.ts";
import { AnswerData } from "../protocol/ask.ts";
import { parseJson } from "../protocol/json.ts";
import { Later } from "../protocol/later.ts";
import { DeviceId, PushId } from "../protocol/push.ts";
import { DeviceSessions } from "../protocol/session.ts";

/** The prefix and 24 bits of the key. */
const KEY_SHOWN_CHARS = 8;

export const Account = z.object({
  apiKey: z.string(),
  /** Given by the relay, at pairing or with the first welcome. */
  deviceId: z.optional(DeviceId),
});
export type Account = z.infer<typeof Account>;

/** How the user tells accounts apart, without revealing the key. */
export function accountName({ apiKey, deviceId }: Account): string {
  const key = `key ${apiKey.slice(0, KEY_SHOWN_CHARS)}…`;
  return deviceId === undefined ? key : `${deviceId} (${key})`;
}

/** A message that the relay has not accepted yet. */
export const OutboxEntry = z.object({
  id: PushId,
  deviceId: z.string(),
  session: z.string(),
  body: z.string(),
  createdAt: z.number(),
  sendAnyway: z.optional(z.boolean()),
  later: z.optional(Later),
  /** Without it, the relay's default. */
  ttlSeconds: z.optional(z.number()),
  /** Set for what is to be done about a dialog: its id. */
  dialog: z.optional(PushId),
  /** Set for a cancellation: the message that is not to be typed. */
  cancels: z.optional(PushId),
  /** Set for an answer: the question, the answer if it is not text, and the host if it must be sealed. */
  answers: z.optional(z.object({
    question: PushId,
    data: z.optional(AnswerData),
    sealTo: z.optional(z.object({ deviceId: z.string(), session: z.string() })),
  })),
});
export type OutboxEntry = z.infer<typeof OutboxEntry>;

export interface PhoneStorage {
  readAccount(): Promise<Account | undefined>;
  writeAccount(account: Account): Promise<void>;
  /** The sessions as they were last seen; undefined if there are none, or no way to encrypt them. */
  readSessions(): Promise<DeviceSessions[] | undefined>;
  writeSessions(devices: readonly DeviceSessions[]): Promise<void>;
  readOutbox(): Promise<OutboxEntry[]>;
  /** Resolves once the entry survives a reload. */
  putOutbox(entry: OutboxEntry): Promise<void>;
  removeOutbox(id: string): Promise<void>;
  /** Texts that were not sent yet, by their keys in the page's state. */
  readDrafts(): Promise<Record<string, string>>;
  /** An empty text removes the draft. */
  putDraft(key: string, text: string): Promise<void>;
  /** Until when the user has read what agents sent, by the keys in the page's state. */
  readSeen(): Promise<Record<string, number>>;
  putSeen(key: string, at: number): Promise<void>;
  /** Erases everything. */
  clear(): Promise<void>;
}

const STRICT = { durability: "strict" } as const;
const ACCOUNT_KEY = "current";
const WRAPPING_KEY = "wrapping";
const SESSIONS_KEY = "sessions";
const NONCE_BYTES = 12;

/** JSON, encrypted under a key that WebCrypto does not export. */
interface Wrapped {
  iv: Uint8Array<ArrayBuffer>;
  ciphertext: ArrayBuffer;
}

interface Schema extends DBSchema {
  account: { key: string; value: Account | Wrapped | CryptoKey };
  outbox: { key: string; value: OutboxEntry };
  drafts: { key: string; value: string };
  seen: { key: string; value: number };
}

function openDatabase(): Promise<IDBPDatabase<Schema>> {
  return openDB<Schema>("svc", 3, {
    upgrade(created, from) {
      if (from < 1) {
        created.createObjectStore("account");
        created.createObjectStore("outbox", { keyPath: "id" });
      }
      if (from < 2) created.createObjectStore("drafts");
      created.createObjectStore("seen");
    },
    // A page of a newer version waits for this one.
    blocking: (_from, _to, event) => (event.target as IDBDatabase).close(),
  });
}

/** Without `cipher` (a page without WebCrypto), the account is stored in plain text. */
export async function openStorage(cipher?: SubtleCrypto): Promise<PhoneStorage> {
  const database = await openDatabase();
  const put = async (value: Account | Wrapped, key: string): Promise<void> => {
    const { store, done } = database.transaction("account", "readwrite", STRICT);
    await Promise.all([store.put(value, key), done]);
  };
  const keyOf = (subtle: SubtleCrypto): Promise<CryptoKey> => wrappingKey(database, subtle);
  const writeAccount = async (account: Account): Promise<void> =>
    put(
      cipher === undefined ? account : await wrap(account, { cipher, key: await keyOf(cipher) }),
      ACCOUNT_KEY,
    );
  return {
    readAccount: async () => {
      const found: unknown = await database.get("account", ACCOUNT_KEY);
      const plain = Account.safeParse(found).data;
      // An earlier version stored it in plain text.
      if (plain !== undefined && cipher !== undefined) await writeAccount(plain);
      if (plain !== undefined || cipher === undefined || !isWrapped(found)) return plain;
      return Account.safeParse(await unwrap(found, { cipher, key: await keyOf(cipher) })).data;
    },
    writeAccount,
    readSessions: async () => {
      const found: unknown = cipher && await database.get("account", SESSIONS_KEY);
      if (cipher === undefined || !isWrapped(found)) return undefined;
      const kept = await unwrap(found, { cipher, key: await keyOf(cipher) });
      return z.array(DeviceSessions).safeParse(kept).data;
    },
    writeSessions: async (devices) => {
      if (cipher === undefined) return;
      await put(await wrap(devices, { cipher, key: await keyOf(cipher) }), SESSIONS_KEY);
    },
    readOutbox: async () => z.array(OutboxEntry).safeParse(await database.getAll("outbox")).data ?? [],
    putOutbox: async (entry) => {
      const { store, done } = database.transaction("outbox", "readwrite", STRICT);
      await Promise.all([store.put(entry), done]);
    },
    removeOutbox: async (id) => {
      const { store, done } = database.transaction("outbox", "readwrite", STRICT);
      await Promise.all([store.delete(id), done]);
    },
    ...keptTexts(database),
    clear: async () => {
      const names = ["account", "outbox", "drafts", "seen"] as const;
      const all = database.transaction(names, "readwrite", STRICT);
      await Promise.all([...names.map((name) => all.objectStore(name).clear()), all.done]);
    },
  };
}

async function allOf<V extends string | number>(
  database: IDBPDatabase<Schema>,
  name: "drafts" | "seen",
): Promise<Record<string, V>> {
  const { store } = database.transaction(name);
  const [keys, values] = await Promise.all([store.getAllKeys(), store.getAll()]);
  return Object.fromEntries(keys.map((key, index) => [key, values[index] as V]));
}

type Kept = Pick<PhoneStorage, "readDrafts" | "putDraft" | "readSeen" | "putSeen">;

function keptTexts(database: IDBPDatabase<Schema>): Kept {
  return {
    readDrafts: () => allOf<string>(database, "drafts"),
    putDraft: async (key, text) => {
      const { store, done } = database.transaction("drafts", "readwrite");
      await Promise.all([text === "" ? store.delete(key) : store.put(text, key), done]);
    },
    readSeen: () => allOf<number>(database, "seen"),
    putSeen: async (key, at) => {
      const { store, done } = database.transaction("seen", "readwrite");
      await Promise.all([store.put(at, key), done]);
    },
  };
}

async function wrappingKey(database: IDBPDatabase<Schema>, subtle: SubtleCrypto): Promise<CryptoKey> {
  const known = await database.get("account", WRAPPING_KEY);
  if (known instanceof CryptoKey) return known;
  const made = await subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]);
  const { store, done } = database.transaction("account", "readwrite", STRICT);
  // Another page may have added its key in the meantime: the first one stays.
  await Promise.all([store.add(made, WRAPPING_KEY), done]).catch(() => undefined);
  const kept = await database.get("account", WRAPPING_KEY);
  return kept instanceof CryptoKey ? kept : made;
}

function isWrapped(found: unknown): found is Wrapped {
  return typeof found === "object" && found !== null && "iv" in found && "ciphertext" in found;
}

interface Wrapping {
  cipher: SubtleCrypto;
  key: CryptoKey;
}

async function wrap(value: unknown, { cipher, key }: Wrapping): Promise<Wrapped> {
  const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const text = encodeUtf8(JSON.stringify(value));
  return { iv, ciphertext: await cipher.encrypt({ name: "AES-GCM", iv }, key, text) };
}

/** Undefined if this browser's key does not open it; without its account the phone is signed out then. */
async function unwrap({ iv, ciphertext }: Wrapped, { cipher, key }: Wrapping): Promise<unknown> {
  try {
    const text = new TextDecoder().decode(await cipher.decrypt({ name: "AES-GCM", iv }, key, ciphertext));
    return parseJson(text)?.value;
  } catch {
    return undefined;
  }
}
