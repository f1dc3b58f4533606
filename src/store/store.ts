/** The relay's persistence as an interface: keys, devices, pushes, inventories, pairings, subscriptions and hooks. */
import type { HookState, PairingOffer, PairingStatus, Scope } from "../protocol/http.ts";
import { STORED_PER_DAY_MAX_BYTES } from "../protocol/limits.ts";
import type { Push } from "../protocol/push.ts";
import type { Receipt } from "../protocol/receipt.ts";
import type { ReportedDetails, SessionEntry } from "../protocol/session.ts";
import type { Role } from "../protocol/frames.ts";
import type { WebPushSubscription } from "../protocol/web_push.ts";

/** Nothing was stored: the disk is full, another program has locked the database, or the file is gone. */
export class StoreUnavailable extends Error {
  override readonly name = "StoreUnavailable";
}

/** Thrown when a relay is running on the store. */
export class StoreInUse extends StoreUnavailable {}

/** An API key; only its hash is stored. All times in this file are epoch milliseconds. */
export interface KeyRecord {
  id: string;
  account: string;
  name: string;
  /** SHA-256 of the key. */
  hash: Uint8Array;
  scopes: readonly Scope[];
  /** The role that may connect with this key; undefined allows any role. */
  role?: Role | undefined;
  /** The only device that may connect with this key; for a listener's key, its listener. */
  deviceId?: string | undefined;
  /** The key whose pairing code created this one; revoking the parent revokes this key. */
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

/** A device or a push of an account, as the key of a map. */
export function nameKey({ account, id }: DeviceName): string {
  return JSON.stringify([account, id]);
}

export interface NewPush {
  account: string;
  /** The device that must acknowledge it: the listener that types it, or an answer's asker; absent for a push to phones. */
  target?: string | undefined;
  /** SHA-256 of the request: distinguishes a repeated push from a reused id. */
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
  /** If it is undefined in a report, the stored details stay. */
  details?: ReportedDetails | undefined;
  reportedAt: number;
}

export interface PairingRecord {
  /** SHA-256 of the code. */
  codeHash: Uint8Array;
  account: string;
  /** The key that created the code, and the scopes that the phone's key gets. */
  keyId: string;
  scopes: readonly Scope[];
  expiresAt: number;
  offer?: PairingOffer | undefined;
}

/** The phone that claimed a code. */
export type PairedPhone = NonNullable<PairingStatus["phone"]>;

/** `duplicate`: the account already has a push with this id. `closed`: `close` returned undefined, or no such question. */
export type AnswerOutcome =
  | { kind: "stored"; answer: StoredPush; question: StoredPush }
  | { kind: "duplicate"; answer: StoredPush }
  | { kind: "closed" };

/** Bytes of pushes that a sender's budget regains per millisecond: the whole of it in a day. */
export const STORED_REGAINED_PER_MS = STORED_PER_DAY_MAX_BYTES / 86_400_000;

/** One installation's hooks. */
export interface HookRecord {
  account: string;
  id: string;
  state: HookState;
  pushes: number;
  firstSeen: number;
  lastSeen: number;
}

/** Hooks recorded per account; a further one replaces the active hook that was used longest ago. */
export const HOOKS_MAX = 1_000;

/** A revoked key, or a revoked device with all its keys. */
export type Revocation =
  | { kind: "key"; account: string; id: string }
  | { kind: "device"; account: string; id: string };

/** Either `after` (a push id: the pushes after it) or `before` (a push id or `end`: the newest pushes before it). */
export interface PageRequest {
  account: string;
  after?: string | undefined;
  before?: string | undefined;
  /** Only questions whose receipt is not final. */
  openQuestions?: boolean | undefined;
  limit: number;
  /** The page ends before the push that would exceed this, but has at least one push. */
  bytes: number;
}

/** Newest last. `hasMore`: there are further pushes in the requested direction. */
export interface Page {
  pushes: StoredPush[];
  hasMore: boolean;
  /** Size of the pushes and receipts as stored. */
  bytes: number;
}

/** One key's use of the relay's limits. */
interface KeyUse {
  /** Devices that it owns and that are not revoked, plus those of the keys that its pairing codes created. */
  devices: number;
  /** Unclaimed pairing codes, and when the first of them expires. */
  openPairings: number;
  firstPairingEnds: number | undefined;
}

export interface KeyStore {
  /**
   * Creates the account if needed. A key bound to a device becomes its owner and undoes the device's revocation. False,
   * and nothing is stored, when the key's parent was revoked.
   */
  insertKey(key: KeyRecord): Promise<boolean>;
  /** Also finds revoked keys. */
  findKey(hash: Uint8Array): Promise<KeyRecord | undefined>;
  findKeyById(id: string): Promise<KeyRecord | undefined>;
  /** The keys of one account, or of all accounts, oldest first. */
  listKeys(account?: string): Promise<KeyRecord[]>;
  /**
   * Revokes the key and every key created from it by pairing, or with `only` the key alone. Returns the ids of the
   * revoked keys, its own first; empty when there is no such active key.
   */
  revokeKey(id: string, now: number, options?: { only: boolean }): Promise<string[]>;
  /** `to` replaces `from` as owner of its devices, except phones, and as parent of the keys created from it. */
  replaceKey(keys: { from: string; to: string }): Promise<void>;
  keyUse(id: string, now: number): Promise<KeyUse>;
  /** Calls `handler` within half a second of every revocation by any process. Returns the unsubscribe function. */
  watchRevocations(handler: (revocation: Revocation) => void): () => void;
}

export interface DeviceClaim {
  keyId: string;
  /** Most devices of the key, counted as in `KeyUse`, and of the account. */
  most: { ofKey: number; ofAccount: number };
}

/**
 * `taken`: another key owns the device. `revoked`: the key or the device was revoked. `key_full`, `account_full`: one
 * device more than the key or the account may have.
 */
export type ClaimOutcome = "claimed" | "taken" | "revoked" | "key_full" | "account_full";

export interface DeviceStore {
  /** Inserts the device, or replaces all fields except `createdAt` and `revokedAt`. */
  saveDevice(device: Omit<DeviceRecord, "revokedAt">): Promise<void>;
  /**
   * Like `saveDevice`, for a key that connects as the device: it must own the device, or be the first to claim it. A
   * revoked key owns nothing. Stores nothing unless the outcome is `claimed`.
   */
  claimDevice(device: Omit<DeviceRecord, "revokedAt">, claim: DeviceClaim): Promise<ClaimOutcome>;
  /** The id of the active key that owns the device. */
  deviceOwner(device: DeviceName): Promise<string | undefined>;
  /** Removes the device's owner: the next key that connects as the device owns it. False when no key owned it. */
  releaseDevice(device: DeviceName): Promise<boolean>;
  findDevice(device: DeviceName): Promise<DeviceRecord | undefined>;
  /** The devices that are not revoked, oldest first. */
  listDevices(account: string): Promise<DeviceRecord[]>;
  /** The process that the device is connected to, if it is another than this one. */
  nodeOf(device: DeviceName): Promise<string | undefined>;
  /** True if the node is alive; `node` is a name that `nodeOf` returned or another node sent. */
  isNodeAlive(node: string): Promise<boolean>;
  setOnline(device: DeviceName, state: { online: boolean; now: number }): Promise<void>;
  /** For a starting relay: marks every device offline, last seen now if it was online. */
  setAllOffline(now: number): Promise<void>;
  /**
   * Revokes the device, every key bound to it with their descendants, and its owner's key when nothing else uses that one;
   * removes its subscription and inventory. Undefined when the account has no such device.
   */
  revokeDevice(device: DeviceName, now: number): Promise<RevokedDevice | undefined>;
}

export interface RevokedDevice {
  /** Ids of the keys that were revoked. */
  keys: string[];
  /** The id of its owner's key, which still works: it owns other devices, or phones were paired by it. */
  workingKey: string | undefined;
}

export interface PushStore {
  /** Durable when it resolves. Returns the existing push, and stores nothing, when the account has used the id. */
  insertPush(push: NewPush): Promise<{ stored: StoredPush; duplicate: boolean }>;
  /** Inserts an answer and closes its question atomically; durable when it resolves. */
  insertAnswer(
    answer: NewPush,
    question: { id: string; close: (stored: StoredPush) => Receipt | undefined },
  ): Promise<AnswerOutcome>;
  findPush(push: PushName): Promise<StoredPush | undefined>;
  /** The `seq` of the newest push of all accounts; 0 without any. */
  newestPush(): Promise<number>;
  /** Bytes that the sender (`from` of its pushes) has stored, less what its budget has regained since then. */
  storedBytes(sender: { account: string; from: string }, now: number): Promise<number>;
  /** Newest last; undefined when the cursor names no push of the account. */
  pagePushes(request: PageRequest): Promise<Page | undefined>;
  /**
   * Applies a pure decision to the current receipt, atomically; undefined leaves it unchanged. A power cut may undo the
   * change: the push is then open again and is sent to its listener again.
   */
  changeReceipt(
    push: PushName,
    decide: (stored: StoredPush) => Receipt | undefined,
  ): Promise<{ stored: StoredPush; changed: boolean } | undefined>;
  /**
   * A listener's pushes that are not final, in order, after `afterSeq`; with `type`, only those of this type. None
   * unless the listener is connected to this process: only the one that it is connected to delivers.
   */
  openPushes(
    device: DeviceName,
    page: { afterSeq: number; limit: number; type?: "agent.cancel" },
  ): Promise<StoredPush[]>;
  /**
   * Calls `handler` for every push to a device that is stored from now on, by any process, in order; undefined for a store
   * of one process, whose bus loses nothing.
   */
  watchPushes?(handler: (push: DeviceName & { seq: number }) => void): () => void;
  /**
   * Keeps a push from ever being sent. False when it may have been sent: its listener is connected, or was when the
   * push was stored. Undefined for a store of one process, where the relay itself keeps track of what it sent.
   */
  holdBack?(push: StoredPush): Promise<boolean>;
  /** Messages in NATS that this node has yet to read; undefined for a store of one process. */
  backlog?(): number;
  /** Expired pushes of all accounts that are not final, the first to expire first, following `after`. */
  duePushes(
    page: { now: number; after?: StoredPush | undefined; limit: number },
  ): Promise<StoredPush[]>;
  /** Removes pushes created before `madeBefore`, and those in state `expired` that expired before `expiredBefore`. */
  removePushes(
    bounds: { madeBefore: number; expiredBefore: number; signal?: AbortSignal },
  ): Promise<number>;
}

export interface InventoryStore {
  /** How long a report that changed nothing is not stored again, in milliseconds; undefined if every one is stored. */
  readonly unchangedForMs?: number;
  /** Replaces the device's sessions. */
  saveInventory(inventory: InventoryRecord): Promise<void>;
  findInventory(device: DeviceName): Promise<InventoryRecord | undefined>;
  listInventories(account: string): Promise<InventoryRecord[]>;
  /** Bytes of the inventories of a key's devices, except this one. */
  inventoryBytes(keyId: string, except: DeviceName): Promise<number>;
  /** Listeners, not revoked, whose latest inventory has a session with this name. */
  devicesWithSession(account: string, name: string): Promise<string[]>;
}

export interface PairingStore {
  insertPairing(pairing: PairingRecord): Promise<void>;
  /** Claims the code, once; undefined when it is unknown, claimed or expired. */
  takePairing(codeHash: Uint8Array, now: number): Promise<PairingRecord | undefined>;
  /** Records the phone that claimed the code. */
  completePairing(codeHash: Uint8Array, phone: PairedPhone): Promise<void>;
  /** Finds open and claimed codes. */
  findPairing(codeHash: Uint8Array): Promise<(PairingRecord & { phone?: PairedPhone }) | undefined>;
  /** Removes unclaimed codes that expired before `openBefore`, and claimed ones that expired before `takenBefore`. */
  removePairings(bounds: { openBefore: number; takenBefore: number }): Promise<void>;
}

export interface WebPushStore {
  saveWebPush(device: DeviceName, subscription: WebPushSubscription): Promise<void>;
  /** False when there was none. With an endpoint, a subscription that has replaced it stays. */
  removeWebPush(device: DeviceName, endpoint?: string): Promise<boolean>;
  findWebPush(device: DeviceName): Promise<WebPushSubscription | undefined>;
  /** The subscriptions of an account, by device id; only of active devices whose owner's key is active. */
  listWebPush(account: string): Promise<ReadonlyMap<string, WebPushSubscription>>;
  /** A secret of the relay, by its name: the stored one, or `made`, which is stored durably. */
  keepSecret(name: string, made: string): Promise<string>;
}

export interface HookStore {
  /** Counts a push of the hook, recording the hook if it is new, and returns its state. */
  countHook(hook: { account: string; id: string }, now: number): Promise<HookState>;
  /** Oldest first. */
  listHooks(account: string): Promise<HookRecord[]>;
  /** Durable when it resolves; undefined when the hook has sent no push. */
  setHookState(hook: { account: string; id: string }, state: HookState): Promise<HookRecord | undefined>;
}

/** Bytes of pushes that a sender had stored at some time. */
export interface Charge {
  bytes: number;
  at: number;
}

/** All that is stored of an account, without its pushes. */
export interface AccountCopy {
  account: string;
  keys: readonly KeyRecord[];
  /** Including revoked ones. */
  devices: readonly DeviceRecord[];
  /** Device id → key id. */
  owners: Readonly<Record<string, string>>;
  pairings: readonly (PairingRecord & { taken: boolean; phone?: PairedPhone | undefined })[];
  /** By device id. */
  webPush: Readonly<Record<string, WebPushSubscription>>;
  inventories: readonly InventoryRecord[];
  hooks: readonly HookRecord[];
  /** By sender. */
  charges: Readonly<Record<string, Charge>>;
}

/** For copying everything into another store. Only a store that is empty, or holds nothing but a copy, can be written. */
export interface CopyStore {
  /** True while a relay runs on the store. */
  isInUse(): Promise<boolean>;
  accountIds(): Promise<string[]>;
  readAccount(account: string): Promise<AccountCopy>;
  /** By name. */
  readSecrets(): Promise<Record<string, string>>;
  /** The pushes of all accounts, in the order of acceptance. */
  readPushes(): AsyncIterable<readonly StoredPush[]>;
  /** Called before anything is written. Rejects with StoreUnavailable when a relay has used the store. */
  beginCopy(): Promise<void>;
  /** Replaces what is stored of the account. */
  writeAccount(copy: AccountCopy): Promise<void>;
  writeSecrets(secrets: Readonly<Record<string, string>>): Promise<void>;
  /** Adds the missing pushes, in this order, after all that are stored; of the others it replaces the receipts. */
  writePushes(pushes: readonly StoredPush[]): Promise<{ added: number; changed: number }>;
  /** Rejects with StoreUnavailable when a relay was started on the store since `beginCopy`. */
  endCopy(): Promise<void>;
}

/**
 * Every method rejects with StoreUnavailable when the store cannot be used. Nothing was stored then, unless NATS
 * accepted a write and its answer was lost.
 */
export interface Store
  extends KeyStore, DeviceStore, PushStore, InventoryStore, PairingStore, WebPushStore, HookStore, CopyStore {
  /** Milliseconds to add to this machine's clock for the one that all processes share; undefined for one process. */
  clockOffset?(): number;
  /** Resolves when the store can be written. */
  ready(): Promise<void>;
  /** Copies the store consistently while the relay runs; replaces `file`, mode 0600. */
  backup(file: string): Promise<void>;
  close(): Promise<void>;
}
