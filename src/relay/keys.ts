/** API keys: 256 random bits, shown once, kept as SHA-256. */
import { type Role, ROLES } from "../protocol/frames.ts";
import type { Scope } from "../protocol/http.ts";
import { equalDigests, sha256 } from "../runtime/digest.ts";
import type { KeyRecord, Store } from "../store/store.ts";
import { encodeBase64url } from "../async/base64url.ts";

export const DEFAULT_ACCOUNT = "default";

/** Secret scanners know a key by its prefix. */
const KEY_PREFIX = "svc_";
const KEY_BYTES = 32;
const KEY_FORM = /^svc_[A-Za-z0-9_-]{43}$/;
const KEY_ID_BYTES = 9;

export interface NewKey {
  name: string;
  scopes: readonly Scope[];
  /** `default` when left out. */
  account?: string | undefined;
  /** What may say hello with the key; follows from `deviceId` when left out, and is any without one. */
  role?: Role | undefined;
  /** The one device that may say hello with the key. */
  deviceId?: string | undefined;
  /** The key by whose pairing code it is made. */
  parent?: string | undefined;
  /** Epoch milliseconds. */
  now?: number;
}

/** What is printed once; the key is found nowhere else. */
export interface CreatedKey {
  id: string;
  name: string;
  scopes: readonly Scope[];
  key: string;
}

const random = (bytes: number): Uint8Array => crypto.getRandomValues(new Uint8Array(bytes));

/** Random words for ids and codes: base64url of so many random bytes. */
export function randomWord(bytes: number): string {
  return encodeBase64url(random(bytes));
}

export async function createKey(store: Store, wanted: NewKey): Promise<CreatedKey> {
  const { name, scopes, account = DEFAULT_ACCOUNT, deviceId, parent, now = Date.now() } = wanted;
  const role = wanted.role ?? roleOfDevice(deviceId);
  const id = `key_${randomWord(KEY_ID_BYTES)}`;
  const key = KEY_PREFIX + randomWord(KEY_BYTES);
  await store.insertKey({
    id,
    account,
    name,
    hash: sha256(key),
    scopes,
    role,
    deviceId,
    parent,
    createdAt: now,
  });
  return { id, name, scopes, key };
}

/** Device ids begin with their kind. */
export function roleOfDevice(deviceId: string | undefined): Role | undefined {
  return ROLES.find((role) => deviceId?.startsWith(`dev_${role}_`));
}

export function isKeyForm(text: string): boolean {
  return KEY_FORM.test(text);
}

/** Undefined for a key that never was or was revoked. */
export async function findKey(store: Store, key: string): Promise<KeyRecord | undefined> {
  if (!isKeyForm(key)) return undefined;
  const hash = sha256(key);
  const found = await store.findKey(hash);
  return found !== undefined && found.revokedAt === undefined && equalDigests(found.hash, hash)
    ? found
    : undefined;
}
