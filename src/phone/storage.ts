/** What the phone keeps across reloads, in IndexedDB: the account and the last list, encrypted, and the unsent messages. */
import { type DBSchema, type IDBPDatabase, openDB } from "idb";
import * as z from "zod/mini";
import { encodeUtf8 } from "../async/encodings.ts";
import { AnswerData } from "../protocol/ask.ts";
import { parseJson } from "../protocol/json.ts";
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
  /** Erases the account, the sessions and the outbox. */
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
    clear: async () => {
      const both = database.transaction(["account", "outbox"], "readwrite", STRICT);
      await Promise.all([both.objectStore("account").clear(), both.objectStore("outbox").clear(), both.done]);
    },
  };
}

function openDatabase(): Promise<IDBPDatabase<Schema>> {
  return openDB<Schema>("svc", 1, {
    upgrade(created) {
      created.createObjectStore("account");
      created.createObjectStore("outbox", { keyPath: "id" });
    },
  });
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
