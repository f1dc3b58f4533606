/** What all parts of the NATS store share: streams, subjects, documents with atomic changes, and the name of the node. */
import { subjectToken } from "../runtime/nats.ts";
import type { PairingOffer, Scope } from "../protocol/http.ts";
import type { WebPushSubscription } from "../protocol/web_push.ts";
import { delay, systemClock } from "../async/clock.ts";
import { utf8Length } from "../async/encodings.ts";
import { backoffMs, retry } from "../async/retry.ts";
import type { NatsStream } from "./nats_streams.ts";
import { type DeviceRecord, type KeyRecord, type PairedPhone, StoreUnavailable } from "./store.ts";

/** A key as stored: `hash` in base64url. */
export type StoredKey = Omit<KeyRecord, "hash"> & { hash: string };

/** A device without its presence, which changes often and is stored separately. */
export type StoredDevice = Omit<DeviceRecord, "online" | "lastSeen">;

/** True if the device is known and not revoked. */
export function isActive(device: { revokedAt?: number | undefined } | undefined): boolean {
  return device !== undefined && device.revokedAt === undefined;
}

export interface StoredPairing {
  keyId: string;
  scopes: readonly Scope[];
  expiresAt: number;
  offer?: PairingOffer | undefined;
  taken?: true;
  phone?: PairedPhone;
}

/** One document holds what is decided together: an account's keys, devices, owners, codes and subscriptions. */
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
  /** Documents in the state stream; each part of the store gives the type of its own. */
  documents<V>(empty: () => V, byId?: ById<V>): Documents<V>;
  /** The name of this process among those that use the store. */
  node: string;
}

export interface AccountDocument {
  get(): Promise<Account>;
  change<T>(work: (account: Account) => T): Promise<T>;
  /** A change that revokes; it is stored even when there is no room for other changes. */
  revoke<T>(work: (account: Account) => T): Promise<T>;
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
    everyPresence: `${prefix}.state.presence.*.*`,
    /** What a starting node does not need to read: see `Checkpoint`. */
    checkpoint: `${prefix}.state.checkpoint`,
    /** Present while the store holds nothing but a copy of another. */
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
  { prefix, node, maxBytes }: { prefix: string; node: string; maxBytes: () => number },
): NatsContext {
  const subjects = stateSubjects(prefix);
  const documents = <V>(empty: () => V, byId?: ById<V>): Documents<V> =>
    new Documents({ stream: streams.state, empty, ...(byId ? { byId } : {}) });
  const accounts = new Documents<Account>({
    stream: streams.state,
    empty: emptyAccount,
    note: revokedMark,
    byId: recordsOf,
    room: { maxBytes, tidy: dropUnused, clear: dropSubscriptions },
  });
  return {
    ...streams,
    subjects,
    documents,
    node,
    account: (id) => ({
      get: () => accounts.getOrEmpty(subjects.account(id)),
      change: (work) => accounts.change(subjects.account(id), work),
      revoke: (work) => accounts.change(subjects.account(id), work, { isUrgent: true }),
    }),
    listAccounts: async () => (await accounts.list(subjects.everyAccount)).map(({ value }) => value),
  };
}

/** The delays between retries of background work. */
const BACKGROUND_BACKOFF = { minMs: 100, maxMs: 10_000 };

/** Runs the work in the background, and retries it while NATS fails, until the store is closed. */
export function untilStored(work: () => Promise<void>, { signal }: { signal: AbortSignal }): void {
  const isTransient = (error: unknown): boolean => error instanceof StoreUnavailable;
  const done = retry(work, { isTransient, backoff: BACKGROUND_BACKOFF, clock: systemClock, signal });
  done.catch(() => undefined);
}

/** Returns a text that changes with every revocation of a key or device: their number, and the time of the last one. */
export function revokedMark({ keys, devices }: Account): string {
  const times = [...Object.values(keys), ...Object.values(devices)].map(({ revokedAt }) => revokedAt)
    .filter((time) => time !== undefined);
  return times.length === 0 ? "" : `${times.length} ${times.reduce((last, time) => Math.max(last, time))}`;
}

function emptyAccount(): Account {
  return { keys: {}, devices: {}, owners: {}, pairings: {}, webPush: {} };
}

function recordsOf({ keys, devices, owners, pairings, webPush }: Account): object[] {
  return [keys, devices, owners, pairings, webPush];
}

/** Removes subscriptions of devices that are revoked or have no working key, and pairing codes of revoked keys. */
function dropUnused({ keys, devices, owners, pairings, webPush }: Account): void {
  const works = (id: string | undefined): boolean => {
    const key = id === undefined ? undefined : keys[id];
    return key !== undefined && key.revokedAt === undefined;
  };
  for (const id of Object.keys(webPush)) {
    if (devices[id]?.revokedAt !== undefined || !works(owners[id])) delete webPush[id];
  }
  for (const [code, { keyId }] of Object.entries(pairings)) if (!works(keyId)) delete pairings[code];
}

/** Removes all subscriptions: phones store them again when their pages open. */
function dropSubscriptions(account: Account): void {
  account.webPush = {};
}

/** How often a change is decided again because another node was faster. */
const ATTEMPTS = 120;
/** A write that has not appeared for this long was lost: its server stopped before the others had it. */
const LOST_MS = 5_000;
const BACKOFF = { minMs: 4, maxMs: 200 };
/** Changes waiting for one document; more are refused. */
const WAITING_MAX = 20_000;

interface Change<V> extends Decision<V> {
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

interface DocumentsOptions<V> {
  stream: NatsStream;
  /** The value of a subject that has no message. */
  empty(): V;
  /** What followers of the stream see of a value. */
  note?(value: V): string;
  /** How much it may grow; by default as far as NATS allows. */
  room?: Room<V>;
  byId?: ById<V>;
}

/**
 * The parts of a value that are looked up by ids that clients choose. Their prototype is null, so that no client reads
 * or changes what all objects share under names such as `__proto__` and `constructor`.
 */
type ById<V> = (value: V) => object[];

/** `V` consists of plain JSON values. */
export class Documents<V> {
  readonly #options: DocumentsOptions<V>;
  readonly #waiting = new Map<string, Change<V>[]>();

  constructor(options: DocumentsOptions<V>) {
    this.#options = options;
  }

  async get(subject: string): Promise<V | undefined> {
    const entry = await this.#options.stream.get(subject);
    return entry && this.#parse(entry.text);
  }

  async getOrEmpty(subject: string): Promise<V> {
    return await this.get(subject) ?? this.#parse(this.#empty());
  }

  #empty(): string {
    return JSON.stringify(this.#options.empty());
  }

  readonly #parse = (text: string): V => {
    const value = JSON.parse(text) as V;
    for (const part of this.#options.byId?.(value) ?? []) Object.setPrototypeOf(part, null);
    return value;
  };

  /** All documents whose subject matches. */
  async list(filter: string): Promise<{ subject: string; seq: number; value: V }[]> {
    const entries = await this.#options.stream.list(filter);
    return entries.map((entry) => ({
      subject: entry.subject,
      seq: entry.seq,
      value: this.#parse(entry.text),
    }));
  }

  /**
   * Calls `work` with the newest value, which it may change, and stores the result. `work` is called again when another
   * node was faster, so it must have no other effect. Changes of one document that wait together share one write.
   */
  change<T>(subject: string, work: (value: V) => T, { isUrgent = false } = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const change: Change<V> = { work, isUrgent, resolve: resolve as (result: unknown) => void, reject };
      const waiting = this.#waiting.get(subject);
      if (waiting === undefined) {
        this.#waiting.set(subject, [change]);
        queueMicrotask(() => void this.#run(subject));
      } else if (waiting.length < WAITING_MAX) waiting.push(change);
      else reject(new StoreUnavailable("Cannot use the store: too many changes are waiting for NATS"));
    });
  }

  async #run(subject: string): Promise<void> {
    for (;;) {
      const batch = this.#waiting.get(subject) ?? [];
      if (batch.length === 0) break;
      this.#waiting.set(subject, []);
      await this.#apply(subject, batch);
    }
    this.#waiting.delete(subject);
  }

  async #apply(subject: string, batch: readonly Change<V>[]): Promise<void> {
    try {
      const outcomes = await this.#write(subject, batch);
      for (const [index, outcome] of outcomes.entries()) {
        if ("error" in outcome) batch[index]?.reject(outcome.error);
        else batch[index]?.resolve(outcome.result);
      }
    } catch (error) {
      for (const change of batch) change.reject(error);
    }
  }

  async #write(subject: string, batch: readonly Change<V>[]): Promise<Outcome[]> {
    const { stream, note, room } = this.#options;
    let seen: { seq: number | undefined; since: number } | undefined;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (attempt > 0) await delay(backoffMs(attempt, BACKOFF), { clock: systemClock });
      const entry = await stream.get(subject);
      if (seen === undefined || seen.seq !== entry?.seq) {
        seen = { seq: entry?.seq, since: systemClock.elapsed() };
      }
      const round = Math.floor((systemClock.elapsed() - seen.since) / LOST_MS);
      const before = entry?.text ?? this.#empty();
      const { value, text, outcomes } = decideWithin(room, { before, batch, parse: this.#parse });
      if (text === before) return outcomes;
      const options = {
        expected: entry?.seq ?? 0,
        round,
        ...(note === undefined ? {} : { note: note(value) }),
      };
      if (await stream.put(subject, text, options) !== undefined) return outcomes;
    }
    throw new StoreUnavailable("Cannot use the store: other nodes change the same document all the time");
  }
}

/**
 * The share of the longest message that a document may grow to. The rest is for revocations, which mark every key and
 * device.
 */
const GROWTH_SHARE = 0.75;
/** The same for a revocation: the rest is for the message's headers. */
const REVOCATION_SHARE = 0.99;

interface Decision<V> {
  work(value: V): unknown;
  /** Stored whatever the document's length. */
  isUrgent: boolean;
}

type Outcome = { result: unknown } | { error: unknown };

/**
 * Limits the length of a document, which is one message: a change that makes it too long is refused, and a revocation makes
 * room for itself.
 */
interface Room<V> {
  /** The longest message that the server accepts. */
  maxBytes(): number;
  /** Removes what is no longer usable. */
  tidy(value: V): void;
  /** Removes what clients store again by themselves. */
  clear(value: V): void;
}

interface Decided<V> {
  value: V;
  text: string;
  outcomes: Outcome[];
}

interface Decisions<V> {
  before: string;
  batch: readonly Decision<V>[];
  parse(text: string): V;
}

/** Returns the document after these decisions. If there is no room for all of them together, each is decided alone. */
function decideWithin<V>(
  room: Room<V> | undefined,
  { before, batch, parse }: Decisions<V>,
): Decided<V> {
  const value = parse(before);
  const outcomes = batch.map((change) => outcomeOf(change, value));
  const text = JSON.stringify(value);
  if (room === undefined || !outgrows(room, { before, text })) return { value, text, outcomes };
  let kept = before;
  const each = batch.map((decision) => {
    const { text, outcome } = decideAlone(room, { before: kept, decision, parse });
    kept = text;
    return outcome;
  });
  return { value: parse(kept), text: kept, outcomes: each };
}

function decideAlone<V>(
  room: Room<V>,
  { before, decision, parse }: Omit<Decisions<V>, "batch"> & { decision: Decision<V> },
): { text: string; outcome: Outcome } {
  const value = parse(before);
  const outcome = outcomeOf(decision, value);
  let text = JSON.stringify(value);
  if (!outgrows(room, { before, text })) return { text, outcome };
  room.tidy(value);
  text = JSON.stringify(value);
  if (!outgrows(room, { before, text })) return { text, outcome };
  const most = Math.floor(room.maxBytes() * (decision.isUrgent ? REVOCATION_SHARE : GROWTH_SHARE));
  if (!decision.isUrgent) return { text: before, outcome: { error: tooLong(utf8Length(text), most) } };
  if (utf8Length(text) > most) room.clear(value);
  return { text: JSON.stringify(value), outcome };
}

/** True if the document has grown beyond its share; one that was longer before may shrink. */
function outgrows<V>(room: Room<V>, { before, text }: { before: string; text: string }): boolean {
  const bytes = utf8Length(text);
  return bytes > room.maxBytes() * GROWTH_SHARE && bytes > utf8Length(before);
}

function tooLong(bytes: number, most: number): StoreUnavailable {
  return new StoreUnavailable(
    `Cannot store a change of ${bytes} bytes in NATS: the account's keys, devices and subscriptions may have ${most} ` +
      "together; revoke keys or devices that are not needed, or raise max_payload in the configuration of each NATS server",
  );
}

/** A decision that throws must not have altered the value. */
function outcomeOf<V>({ work }: Decision<V>, value: V): Outcome {
  try {
    return { result: work(value) };
  } catch (error) {
    return { error };
  }
}
