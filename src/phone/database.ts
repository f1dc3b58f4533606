/** The page's database, and the values in it that are encrypted under a key of this browser. */
import { type DBSchema, type IDBPDatabase, type IDBPObjectStore, openDB, type StoreNames } from "idb";
import { encodeUtf8 } from "../async/encodings.ts";
import { parseJson } from "../protocol/json.ts";
import type { SignInLink } from "./route.ts";

export const STRICT = { durability: "strict" } as const;
export const ACCOUNT_KEY = "current";
export const SESSIONS_KEY = "sessions";
export const LINK_KEY = "link";
const WRAPPING_KEY = "wrapping";
const NONCE_BYTES = 12;

/** JSON, encrypted under a key that WebCrypto does not export. */
interface Wrapped {
  iv: Uint8Array<ArrayBuffer>;
  ciphertext: ArrayBuffer;
}

/** The code that reads a value parses it. */
interface Schema extends DBSchema {
  account: { key: string; value: unknown };
  outbox: { key: string; value: { id: string } };
  drafts: { key: string; value: string };
  seen: { key: string; value: number };
}

export type Database = IDBPDatabase<Schema>;

/** Runs `work` on a database, which is opened on first use. */
export type Opened<D> = <T>(work: (database: D) => Promise<T>) => Promise<T>;

/** True if the browser closed the connection or ended the transaction: a new connection may work. */
export function isLost(error: unknown): boolean {
  return error instanceof DOMException && /^(InvalidState|Abort|Unknown)Error$/.test(error.name);
}

/**
 * Opens a database, even one of a newer version: this page must not lose what the user writes. A page of a newer version
 * waits until this one has closed its connection.
 */
export function openAny<S extends DBSchema | unknown>(
  name: string,
  version: number,
  upgrade: (created: IDBPDatabase<S>, from: number) => void,
): Promise<IDBPDatabase<S>> {
  const open = (version?: number): Promise<IDBPDatabase<S>> =>
    openDB<S>(name, version, {
      upgrade,
      blocking: (_from, _to, event) => (event.target as IDBDatabase).close(),
    });
  return open(version).catch((error) => error.name === "VersionError" ? open() : Promise.reject(error));
}

/** Reopens the database after a failure, and repeats the work once if the connection was lost. */
export function reopening<D extends { close(): void }>(open: () => Promise<D>): Opened<D> {
  let opened: Promise<D> | undefined;
  const attempt: Opened<D> = async (work) => {
    const mine = opened ??= open();
    try {
      return await work(await mine);
    } catch (error) {
      if (opened === mine) opened = undefined;
      mine.then((database) => database.close(), () => undefined);
      throw error;
    }
  };
  return (work) => attempt(work).catch((error) => isLost(error) ? attempt(work) : Promise.reject(error));
}

/** Runs `work` on a store in its own transaction. Resolves once that is on the disk. */
export async function write<S extends DBSchema, N extends StoreNames<S>>(
  database: IDBPDatabase<S>,
  name: N,
  work: (store: IDBPObjectStore<S, [N], N, "readwrite">) => Promise<unknown>,
): Promise<void> {
  const { store, done } = database.transaction(name, "readwrite", STRICT);
  await Promise.all([work(store), done]);
}

/** A value as it was stored, decrypted if it was encrypted. */
export interface Kept {
  value: unknown;
  isPlain: boolean;
}

/** Stands for a value that was never stored. */
const NOTHING: Kept = { value: undefined, isPlain: true };

/** What the list of sessions needs, read in one transaction. */
export interface FirstRead {
  database: Opened<Database>;
  account: Kept;
  sessions: Kept;
  link: Kept;
}

export function openDatabase(): Promise<Database> {
  return openAny<Schema>("svc", 3, (created, from) => {
    if (from < 1) {
      created.createObjectStore("account");
      created.createObjectStore("outbox", { keyPath: "id" });
    }
    if (from < 2) created.createObjectStore("drafts");
    created.createObjectStore("seen");
  });
}

/** Reads what the first view needs. First stores `opened`, the link that opened the page. */
export async function readFirst(
  cipher: SubtleCrypto | undefined,
  opened: SignInLink | undefined,
): Promise<FirstRead> {
  const database = reopening(openDatabase);
  if (opened !== undefined) {
    await database((one) => putKept(one, { name: LINK_KEY, value: keptLink(opened), cipher }));
  }
  const [key, ...found] = await database((one) => {
    const { store } = one.transaction("account");
    return Promise.all(
      [WRAPPING_KEY, ACCOUNT_KEY, SESSIONS_KEY, LINK_KEY].map((name) => store.get(name)),
    );
  });
  const wrapping = cipher !== undefined && key instanceof CryptoKey ? { cipher, key } : undefined;
  const [account, sessions, link] = await Promise.all(found.map((one) => kept(one, wrapping)));
  return { database, account: account ?? NOTHING, sessions: sessions ?? NOTHING, link: link ?? NOTHING };
}

/** The stored form of a link that has not been used yet. */
export function keptLink(link: SignInLink): { at: number; link: SignInLink } {
  return { at: Date.now(), link };
}

/** Writes to the store `account`, encrypted if the page has WebCrypto. */
export async function putKept(
  database: Database,
  { name, value, cipher }: { name: string; value: unknown; cipher: SubtleCrypto | undefined },
): Promise<void> {
  const stored = cipher === undefined
    ? value
    : await wrap(value, { cipher, key: await wrappingKey(database, cipher) });
  await write(database, "account", (store) => store.put(stored, name));
}

/** Reads from the store `account`. */
export async function readKept(
  database: Database,
  { name, cipher }: { name: string; cipher: SubtleCrypto | undefined },
): Promise<Kept> {
  const found = await database.get("account", name);
  return await kept(found, cipher && { cipher, key: await wrappingKey(database, cipher) });
}

interface Wrapping {
  cipher: SubtleCrypto;
  key: CryptoKey;
}

async function wrappingKey(database: Database, subtle: SubtleCrypto): Promise<CryptoKey> {
  const known = await database.get("account", WRAPPING_KEY);
  if (known instanceof CryptoKey) return known;
  const made = await subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]);
  // Another page may have added its key in the meantime: the first one stays.
  await write(database, "account", (store) => store.add(made, WRAPPING_KEY)).catch(() => undefined);
  const stored = await database.get("account", WRAPPING_KEY);
  return stored instanceof CryptoKey ? stored : made;
}

async function wrap(value: unknown, { cipher, key }: Wrapping): Promise<Wrapped> {
  const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const text = encodeUtf8(JSON.stringify(value));
  return { iv, ciphertext: await cipher.encrypt({ name: "AES-GCM", iv }, key, text) };
}

/** The value is undefined if this browser's key cannot decrypt it. If that is the account, the phone is signed out. */
async function kept(found: unknown, wrapping: Wrapping | undefined): Promise<Kept> {
  if (!isWrapped(found)) return { value: found, isPlain: true };
  if (wrapping === undefined) return { value: undefined, isPlain: false };
  const { cipher, key } = wrapping;
  try {
    const opened = await cipher.decrypt({ name: "AES-GCM", iv: found.iv }, key, found.ciphertext);
    return { value: parseJson(new TextDecoder().decode(opened))?.value, isPlain: false };
  } catch {
    return { value: undefined, isPlain: false };
  }
}

function isWrapped(found: unknown): found is Wrapped {
  return typeof found === "object" && found !== null && "iv" in found && "ciphertext" in found;
}
