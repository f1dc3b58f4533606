/** API keys: created, looked up for a request or a handshake, and what each role of key may do. */
import { decodeBase64url, decodeUtf8, encodeBase64url } from "../async/encodings.ts";
import { type EventData, type Role, ROLES } from "../protocol/frames.ts";
import type { Scope } from "../protocol/http.ts";
import { KEY_SUBPROTOCOL_PREFIX, SUBPROTOCOL } from "../protocol/limits.ts";
import { equalDigests, sha256 } from "../runtime/digest.ts";
import type { DeviceRecord, KeyRecord, Store } from "../store/store.ts";
import { Refusal } from "./handler.ts";

export const DEFAULT_ACCOUNT = "default";

/** Secret scanners recognize a key by its prefix. */
const KEY_PREFIX = "svc_";
const KEY_BYTES = 32;
const KEY_FORM = /^svc_[A-Za-z0-9_-]{43}$/;
const KEY_ID_BYTES = 9;

export interface NewKey {
  name: string;
  scopes: readonly Scope[];
  /** `DEFAULT_ACCOUNT` by default. */
  account?: string | undefined;
  /** The role that may connect with the key; by default the role of `deviceId`, or any role. */
  role?: Role | undefined;
  /** The only device that may connect with the key. */
  deviceId?: string | undefined;
  /** The key whose pairing code created this one; it must not have been revoked. */
  parent?: string | undefined;
  /** Epoch milliseconds. */
  now?: number;
}

/** Printed once; the key itself is stored nowhere. */
interface CreatedKey {
  id: string;
  name: string;
  scopes: readonly Scope[];
  key: string;
}

/** A random id or code: this many random bytes in base64url. */
export function randomToken(bytes: number): string {
  return encodeBase64url(crypto.getRandomValues(new Uint8Array(bytes)));
}

/** Creates a key of 256 random bits and stores its SHA-256. Throws when its parent was revoked. */
export async function createKey(store: Store, wanted: NewKey): Promise<CreatedKey> {
  const created = await createKeyUnlessRevoked(store, wanted);
  if (created !== undefined) return created;
  throw new Error(`Cannot create the key "${wanted.name}": its parent "${wanted.parent}" was revoked`);
}

/** Like `createKey`, but returns undefined when its parent was revoked. */
export async function createKeyUnlessRevoked(store: Store, wanted: NewKey): Promise<CreatedKey | undefined> {
  const { name, scopes, account = DEFAULT_ACCOUNT, deviceId, parent, now = Date.now() } = wanted;
  const role = wanted.role ?? roleOfDevice(deviceId);
  const id = `key_${randomToken(KEY_ID_BYTES)}`;
  const key = KEY_PREFIX + randomToken(KEY_BYTES);
  const hash = sha256(key);
  const record = { id, account, name, hash, scopes, role, deviceId, parent, createdAt: now };
  return await store.insertKey(record) ? { id, name, scopes, key } : undefined;
}

/** The role in a device id's prefix. */
export function roleOfDevice(deviceId: string | undefined): Role | undefined {
  return ROLES.find((role) => deviceId?.startsWith(`dev_${role}_`));
}

/** Undefined for an unknown or revoked key. */
export async function findKey(store: Store, key: string): Promise<KeyRecord | undefined> {
  if (!KEY_FORM.test(key)) return undefined;
  const hash = sha256(key);
  const found = await store.findKey(hash);
  return found !== undefined && found.revokedAt === undefined && equalDigests(found.hash, hash)
    ? found
    : undefined;
}

/** Returns the key's record. Throws Refusal for a missing, unknown or revoked key, or one with none of the scopes. */
export async function authenticate(
  store: Store,
  { key, scopes }: { key: string | undefined; scopes: readonly Scope[] },
): Promise<KeyRecord> {
  const found = key === undefined ? undefined : await findKey(store, key);
  if (found === undefined) {
    const why = key === undefined ? "it is missing" : "it is unknown or revoked";
    throw new Refusal("unauthenticated", `Cannot accept the API key: ${why}; send a valid one as X-API-Key`);
  }
  if (!scopes.some((scope) => found.scopes.includes(scope))) {
    throw new Refusal("missing_scope", `The key "${found.name}" lacks the scope ${scopes.join(" or ")}`);
  }
  return found;
}

export function keyOfRequest(request: Request): string | undefined {
  return request.headers.get("x-api-key") ?? undefined;
}

/** A handshake's key: the subprotocol `svc.key.<base64url of the key>`, or the header. Never the URL. */
export function keyOfHandshake(request: Request): string | undefined {
  const offered = offeredProtocols(request).find((name) => name.startsWith(KEY_SUBPROTOCOL_PREFIX));
  if (offered === undefined) return keyOfRequest(request);
  const bytes = decodeBase64url(offered.slice(KEY_SUBPROTOCOL_PREFIX.length));
  return (bytes && decodeUtf8(bytes)) ?? "";
}

/** A client that offers subprotocols must offer ours, because the server has to choose one of them. */
export function checkSubprotocol(request: Request): void {
  const offered = offeredProtocols(request);
  if (offered.length === 0 || offered.includes(SUBPROTOCOL)) return;
  throw new Refusal("invalid_request", `Cannot use the offered subprotocols: offer ${SUBPROTOCOL}`);
}

function offeredProtocols(request: Request): string[] {
  const header = request.headers.get("sec-websocket-protocol") ?? "";
  return header.split(",").map((name) => name.trim()).filter((name) => name !== "");
}

type Hello = Pick<EventData<"hello">, "role" | "deviceId">;
type Key = Pick<KeyRecord, "id" | "role" | "deviceId">;

/**
 * The roles in which a key of each role may connect. A host's other programs (svc mcp, svc verify) share the listener's
 * key and connect as scripts. A key without a role may connect in any.
 */
const HELLO_ROLES: Record<Role, readonly Role[]> = {
  listener: ["listener", "script"],
  phone: ["phone"],
  script: ["script"],
};

/** Returns the device that a hello is for; a client that names none gets a device id derived from its key. */
export function helloDeviceId(key: Key, hello: Hello): string {
  const derived = `dev_${hello.role}_${key.id.slice("key_".length).replaceAll("-", "_")}`;
  return hello.deviceId ?? (isBound(key, hello) ? key.deviceId : undefined) ?? derived;
}

/** Returns why the key itself forbids this hello, beginning with `wrong_role:` if only another key helps; undefined when it does not. */
export function helloFault(key: Key, hello: Hello): string | undefined {
  if (isBound(key, hello) && helloDeviceId(key, hello) !== key.deviceId) {
    return "the key belongs to another device";
  }
  if (key.role !== undefined && !HELLO_ROLES[key.role].includes(hello.role)) {
    return `wrong_role: the key is a ${key.role}'s, and cannot connect as a ${hello.role}`;
  }
  // Otherwise the host or the phone that the id is meant for would find it taken, in another role.
  const named = roleOfDevice(helloDeviceId(key, hello));
  if (named !== undefined && named !== hello.role) {
    return `wrong_role: the device id is a ${named}'s, and cannot connect as a ${hello.role}`;
  }
  if (hello.role === "listener" && hello.deviceId === undefined && key.deviceId === undefined) {
    return "a listener needs a deviceId";
  }
  return undefined;
}

/** True if the hello must be for the key's own device. A script that shares a listener's key is a different device. */
function isBound({ deviceId, role }: Key, hello: Hello): boolean {
  return deviceId !== undefined && !(role === "listener" && hello.role === "script");
}

/** A phone's or a script's key may not create pairing codes: it must not admit further phones. */
export function mayPair({ role }: Pick<KeyRecord, "role">): boolean {
  return role !== "phone" && role !== "script";
}

/** A device may be changed by its owner; a device without an owner, by any key that is not bound to another device. */
export function mayChangeDevice(
  key: Key,
  { device, owner }: { device: Pick<DeviceRecord, "id">; owner: string | undefined },
): boolean {
  if (key.deviceId !== undefined && key.deviceId !== device.id) return false;
  return owner === undefined || owner === key.id;
}
