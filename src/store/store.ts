/** What the relay keeps, as an interface: keys, devices, pushes, inventories, pairings and subscriptions. */
import type { HookState, PairingOffer, PairingStatus, Scope, WebPushSubscription } from "../protocol/http.ts";
import type { Push } from "../protocol/push.ts";
import type { Receipt } from "../protocol/receipt.ts";
import type { SessionEntry } from "../protocol/session.ts";
import type { Role } from "../protocol/frames.ts";

/** Nothing was stored: the disk is full, the database locked by another program, or its file gone. */
export class StoreUnavailable extends Error {
  override readonly name = "StoreUnavailable";
}

/** Times are epoch milliseconds throughout. The key itself is never stored. */
export interface KeyRecord {
  id: string;
  account: string;
  name: string;
  /** SHA-256 of the key. */
  hash: Uint8Array;
  scopes: readonly Scope[];
  /** What may say hello with this key; any role when it was made for none. */
  role?: Role | undefined;
  /** The one device that may say hello with this key; for a listener's key the one listener. */
  deviceId?: string | undefined;
  /** The key by whose pairing code this one was made: it ends with it. */
  parent?: string | undefined;
  createdAt: number;
  revokedAt?: number | undefined;
}

export interface DeviceRecord {
  account: string;
  id: string;
  kind: Role;
  name: string;
  version: string;
  publicKey?: string | undefined;
  online: boolean;
  createdAt: number;
  lastSeen: number;
  revokedAt?: number | undefined;
}

export interface DeviceName {
  account: string;
  id: string;
}

export interface NewPush {
  account: string;
  /** The listener that types it; absent for a push to phones. */
  target?: string | undefined;
  /** SHA-256 of what the sender sent: tells a repetition from another use of the id. */
  digest: Uint8Array;
  push: Push;
  receipt: Receipt;
}

/** `seq` grows in the order of acceptance. */
export interface StoredPush extends NewPush {
  seq: number;
}

export interface PushName {
  account: string;
  id: string;
}

export interface InventoryRecord {
  account: string;
  deviceId: string;
  sessions: readonly SessionEntry[];
  reportedAt: number;
}

export interface PairingRecord {
  /** SHA-256 of the code. */
  codeHash: Uint8Array;
  account: string;
  /** The key that asked for the code, and what the phone's key may be at most. */
  keyId: string;
  scopes: readonly Scope[];
  expiresAt: number;
  offer?: PairingOffer | undefined;
}

/** The phone that claimed a code. */
export type PairedPhone = NonNullable<PairingStatus["phone"]>;

/** `duplicate`: the account has used the id, for that push. `closed`: `close` gave nothing, or there is no question. */
export type AnswerOutcome =
  | { kind: "stored"; answer: StoredPush; question: StoredPush }
  | { kind: "duplicate"; answer: StoredPush }
  | { kind: "closed" };

/** The hooks of one installation. */
export interface HookRecord {
  account: string;
  id: string;
  state: HookState;
  pushes: number;
  firstSeen: number;
  lastSeen: number;
}

/** Hooks of one account that are known; pushes of more are told like any other. */
export const HOOKS_MAX = 1_000;

/** A key, or a device with all its keys, that works no longer. */
export type Revocation =
  | { kind: "key"; account: string; id: string }
  | { kind: "device"; account: string; id: string };

/** One of `after` (a push id: what follows it) and `before` (a push id: the newest ones before it, or `end`). */
export interface PageRequest {
  account: string;
  after?: string | undefined;
  before?: string | undefined;
  limit: number;
  /** A page ends before the push with which it would have more, but has one at least. */
  bytes: number;
}

/** Newest last. `hasMore`: there are others beyond the page, in the direction that was asked for. */
export interface Page {
  pushes: StoredPush[];
  hasMore: boolean;
  /** Of the pushes and receipts as they are stored. */
  bytes: number;
}

/** How much one key has at the relay. */
export interface KeyUse {
  /** Devices that it owns, and those of the keys that its pairing codes made. */
  devices: number;
  /** Pairing codes that nobody has claimed, and when the first of them ends. */
  openPairings: number;
  firstPairingEnds: number | undefined;
}

export interface KeyStore {
  /** Makes the account if need be; a key bound to a device owns it from now on, and takes its revocation back. */
  insertKey(key: KeyRecord): Promise<void>;
  /** Revoked ones too. */
  findKey(hash: Uint8Array): Promise<KeyRecord | undefined>;
  findKeyById(id: string): Promise<KeyRecord | undefined>;
  /** Of one account or of all, oldest first. */
  listKeys(account?: string): Promise<KeyRecord[]>;
  /**
   * Revokes the key and every key that came from it by pairing, or with `only` it alone; the ids of those that it
   * revoked, its own first; empty when no such key works.
   */
  revokeKey(id: string, now: number, options?: { only: boolean }): Promise<string[]>;
  /** `to` takes the place of `from`: the devices that it owns, phones apart, and the keys that came from it. */
  replaceKey(keys: { from: string; to: string }): Promise<void>;
  keyUse(id: string, now: number): Promise<KeyUse>;
  /** Calls `handler` within half a second of every revocation, by whichever process; returns how to stop. */
  watchRevocations(handler: (revocation: Revocation) => void): () => void;
}

export interface DeviceStore {
  /** Inserts, or replaces all but `createdAt` and `revokedAt`. */
  saveDevice(device: Omit<DeviceRecord, "revokedAt">): Promise<void>;
  /**
   * As `saveDevice`, for a key that says hello: the device's owner, or the first one to claim it. A key that is revoked
   * owns nothing. `taken`: another key owns the device, and nothing was stored.
   */
  claimDevice(device: Omit<DeviceRecord, "revokedAt">, keyId: string): Promise<"claimed" | "taken">;
  /** The id of the working key that owns the device. */
  deviceOwner(device: DeviceName): Promise<string | undefined>;
  /** The next key that says hello as the device owns it; false when no key does now. */
  releaseDevice(device: DeviceName): Promise<boolean>;
  findDevice(device: DeviceName): Promise<DeviceRecord | undefined>;
  /** Those not revoked, oldest first. */
  listDevices(account: string): Promise<DeviceRecord[]>;
  setOnline(device: DeviceName, state: { online: boolean; now: number }): Promise<void>;
  /** For a relay that starts: whoever was online when the last one ended was so until now. */
  setAllOffline(now: number): Promise<void>;
  /**
   * Revokes the device, every key bound to it and what came from those, and drops its subscription; the ids of the
   * keys, or undefined when the account has no such device.
   */
  revokeDevice(device: DeviceName, now: number): Promise<string[] | undefined>;
}

export interface PushStore {
  /** Durable when it resolves. With an id that the account has used: that push, and nothing is stored. */
  insertPush(push: NewPush): Promise<{ stored: StoredPush; duplicate: boolean }>;
  /** Inserts an answer and closes its question, both or neither; durable when it resolves. */
  insertAnswer(
    answer: NewPush,
    question: { id: string; close: (stored: StoredPush) => Receipt | undefined },
  ): Promise<AnswerOutcome>;
  findPush(push: PushName): Promise<StoredPush | undefined>;
  /** Newest last; undefined when the cursor names no push of the account. */
  pagePushes(request: PageRequest): Promise<Page | undefined>;
  /**
   * Applies a pure decision to the receipt as it stands, atomically; undefined from it leaves all as it is. A power cut
   * may undo it: the push is open again then, and its listener is asked again.
   */
  changeReceipt(
    push: PushName,
    decide: (stored: StoredPush) => Receipt | undefined,
  ): Promise<{ stored: StoredPush; changed: boolean } | undefined>;
  /** Pushes of a listener that are not final, in order, after `seq`. */
  openPushes(
    device: DeviceName,
    page: { afterSeq: number; limit: number },
  ): Promise<StoredPush[]>;
  /** Pushes of all accounts past their time and not final, in order, after `seq`. */
  duePushes(page: { now: number; afterSeq: number; limit: number }): Promise<StoredPush[]>;
  /** Removes pushes made before `madeBefore` and expired ones whose time ended before `expiredBefore`. */
  removePushes(bounds: { madeBefore: number; expiredBefore: number }): Promise<number>;
}

export interface InventoryStore {
  /** Replaces the device's sessions. */
  saveInventory(inventory: InventoryRecord): Promise<void>;
  listInventories(account: string): Promise<InventoryRecord[]>;
  /** Listeners, not revoked, whose last report has a session of this name. */
  devicesWithSession(account: string, name: string): Promise<string[]>;
}

export interface PairingStore {
  insertPairing(pairing: PairingRecord): Promise<void>;
  /** Takes the code, once: undefined when it is unknown, taken or too old. */
  takePairing(codeHash: Uint8Array, now: number): Promise<PairingRecord | undefined>;
  /** Records who took the code. */
  completePairing(codeHash: Uint8Array, phone: PairedPhone): Promise<void>;
  /** Open and taken ones. */
  findPairing(codeHash: Uint8Array): Promise<(PairingRecord & { phone?: PairedPhone }) | undefined>;
  /** Forgets codes that ended before `openBefore` untaken, and taken ones that ended before `takenBefore`. */
  removePairings(bounds: { openBefore: number; takenBefore: number }): Promise<void>;
}

export interface WebPushStore {
  saveWebPush(device: DeviceName, subscription: WebPushSubscription): Promise<void>;
  /** False when there was none. */
  removeWebPush(device: DeviceName): Promise<boolean>;
  findWebPush(device: DeviceName): Promise<WebPushSubscription | undefined>;
}

export interface HookStore {
  /** Counts a push of the hook, which it makes known; says the state that the hook is in. */
  countHook(hook: { account: string; id: string }, now: number): Promise<HookState>;
  /** The one known longest first. */
  listHooks(account: string): Promise<HookRecord[]>;
  /** Durable when it resolves; undefined when no push of the hook has come. */
  setHookState(hook: { account: string; id: string }, state: HookState): Promise<HookRecord | undefined>;
}

/** Every method rejects with StoreUnavailable when the store cannot do it; nothing was stored then. */
export interface Store
  extends KeyStore, DeviceStore, PushStore, InventoryStore, PairingStore, WebPushStore, HookStore {
  /** Resolves when the store can be written. */
  ready(): Promise<void>;
  /** A sound copy while the relay runs; replaces `file`, mode 0600. */
  backup(file: string): Promise<void>;
  close(): Promise<void>;
}
