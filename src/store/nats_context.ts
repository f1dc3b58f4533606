/** What every part of the NATS store shares: its streams, the documents in them, their subjects, and this node's name. */
import { subjectToken } from "../runtime/nats.ts";
import type { PairingOffer, Scope } from "../protocol/http.ts";
import type { WebPushSubscription } from "../protocol/web_push.ts";
import { Documents } from "./nats_documents.ts";
import type { NatsStream } from "./nats_streams.ts";
import type { DeviceRecord, KeyRecord, PairedPhone } from "./store.ts";

/** A key as stored: `hash` in base64url. */
export type StoredKey = Omit<KeyRecord, "hash"> & { hash: string };

/** A device without its presence, which changes often and is stored apart. */
export type StoredDevice = Omit<DeviceRecord, "online" | "lastSeen">;

export interface StoredPairing {
  keyId: string;
  scopes: readonly Scope[];
  expiresAt: number;
  offer?: PairingOffer | undefined;
  taken?: true;
  phone?: PairedPhone;
}

/** What is decided together is one document: an account's keys, devices, owners, pairing codes and subscriptions. */
export interface Account {
  keys: Record<string, StoredKey>;
  devices: Record<string, StoredDevice>;
  /** Device id → key id. */
  owners: Record<string, string>;
  /** By the code's hash in base64url. */
  pairings: Record<string, StoredPairing>;
  webPush: Record<string, WebPushSubscription>;
}

export interface NatsContext {
  state: NatsStream;
  pushes: NatsStream;
  receipts: NatsStream;
  /** Subjects of the state stream. */
  subjects: ReturnType<typeof stateSubjects>;
  account(id: string): AccountDocument;
  /** All accounts. */
  listAccounts(): Promise<Account[]>;
  /** Of any subject in the state stream; each part of the store knows the type of its own. */
  documents<V>(empty: () => V): Documents<V>;
  /** This process among those on the store. */
  node: string;
}

export interface AccountDocument {
  get(): Promise<Account>;
  change<T>(work: (account: Account) => T): Promise<T>;
}

export function stateSubjects(prefix: string) {
  const of = (...names: string[]): string => [`${prefix}.state`, ...names.map(subjectToken)].join(".");
  return {
    all: `${prefix}.state.>`,
    account: (account: string) => of("account", account),
    everyAccount: `${prefix}.state.account.*`,
    /** Which account a key is in, by its id and by its hash. */
    key: (id: string) => of("key", id),
    hash: (hash: string) => of("hash", hash),
    /** Which account a pairing code is in. */
    code: (hash: string) => of("code", hash),
    everyCode: `${prefix}.state.code.*`,
    presence: (account: string, device: string) => of("presence", account, device),
    /** What a starting node needs not read: see `Checkpoint`. */
    checkpoint: `${prefix}.state.checkpoint`,
    /** There while the store holds nothing but a copy of another. */
    copy: `${prefix}.state.copy`,
    node: (id: string) => of("node", id),
    everyNode: `${prefix}.state.node.*`,
    inventory: (account: string, device: string) => of("inventory", account, device),
    inventoriesOf: (account: string) => `${of("inventory", account)}.*`,
    /** Names and sizes of all inventories of an account. */
    sessions: (account: string) => of("sessions", account),
    hooks: (account: string) => of("hooks", account),
    charge: (account: string, from: string) => of("charge", account, from),
    chargesOf: (account: string) => `${of("charge", account)}.*`,
    everyCharge: `${prefix}.state.charge.*.*`,
    secret: (name: string) => of("secret", name),
    everySecret: `${prefix}.state.secret.*`,
  };
}

export function natsContext(
  streams: Pick<NatsContext, "state" | "pushes" | "receipts">,
  { prefix, node }: { prefix: string; node: string },
): NatsContext {
  const subjects = stateSubjects(prefix);
  const documents = <V>(empty: () => V): Documents<V> => new Documents({ stream: streams.state, empty });
  const accounts = new Documents<Account>({ stream: streams.state, empty: emptyAccount, note: revokedMark });
  return {
    ...streams,
    ...{ subjects, documents, node },
    account: (id) => ({
      get: async () => await accounts.get(subjects.account(id)) ?? emptyAccount(),
      change: (work) => accounts.change(subjects.account(id), work),
    }),
    listAccounts: async () => (await accounts.list(subjects.everyAccount)).map(({ value }) => value),
  };
}

/** Changes with every key and device that is revoked: how many there are, and when the last one was. */
export function revokedMark({ keys, devices }: Account): string {
  const times = [...Object.values(keys), ...Object.values(devices)].map(({ revokedAt }) => revokedAt)
    .filter((time) => time !== undefined);
  return times.length === 0 ? "" : `${times.length} ${times.reduce((last, time) => Math.max(last, time))}`;
}

function emptyAccount(): Account {
  return { keys: {}, devices: {}, owners: {}, pairings: {}, webPush: {} };
}
