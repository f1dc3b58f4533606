/** Keys and revocations in NATS. A key is a part of its account's document; two small documents give the account of a key. */
import { systemClock } from "../async/clock.ts";
import { decodeBase64url, encodeBase64url } from "../async/encodings.ts";
import { retry } from "../async/retry.ts";
import { subjectName } from "../runtime/nats.ts";
import type { Account, NatsContext, StoredKey } from "./nats_context.ts";
import { type KeyRecord, type KeyStore, type Revocation, StoreUnavailable } from "./store.ts";

/** The delays between attempts to read an account whose revocations must be handled. */
const REREAD = { minMs: 100, maxMs: 2_000 };
/** Keys whose account is cached; it never changes. */
const REMEMBERED_MAX = 10_000;

interface Place {
  account: string;
  id: string;
}

export function natsKeys(context: NatsContext): KeyStore {
  const { subjects, account: accountOf } = context;
  const places = new Places(context);
  const find = async (place: Place | undefined): Promise<KeyRecord | undefined> => {
    if (place === undefined) return undefined;
    const { keys } = await accountOf(place.account).get();
    return keyOf(keys[place.id]);
  };
  return {
    async insertKey(key) {
      const { account, id, deviceId, parent } = key;
      await places.add({ account, id }, encodeBase64url(key.hash));
      return await accountOf(account).change(({ keys, devices, owners }) => {
        if (parent !== undefined && keys[parent]?.revokedAt !== undefined) return false;
        keys[id] = { ...key, hash: encodeBase64url(key.hash) };
        if (deviceId === undefined) return true;
        delete devices[deviceId]?.revokedAt;
        owners[deviceId] = id;
        return true;
      });
    },
    findKey: async (hash) => await find(await places.find(subjects.hash(encodeBase64url(hash)))),
    findKeyById: async (id) => await find(await places.find(subjects.key(id))),
    async listKeys(account) {
      const accounts = account === undefined
        ? await context.listAccounts()
        : [await accountOf(account).get()];
      return keysOf(accounts);
    },
    async revokeKey(id, now, { only } = { only: false }) {
      const place = await places.find(subjects.key(id));
      if (place === undefined) return [];
      return await accountOf(place.account).revoke((account) =>
        revokeKeys(account, { ids: [id], now, only })
      );
    },
    async replaceKey({ from, to }) {
      const place = await places.find(subjects.key(from));
      if (place === undefined) return;
      await accountOf(place.account).change((account) => replaceKey(account, { from, to }));
    },
    async keyUse(id, now) {
      const place = await places.find(subjects.key(id));
      return useOf(place && await accountOf(place.account).get(), { id, now });
    },
    watchRevocations: (handler) => watch(context, handler),
  };
}

type KeyUse = Awaited<ReturnType<KeyStore["keyUse"]>>;

function useOf(account: Account | undefined, { id, now }: { id: string; now: number }): KeyUse {
  if (account === undefined) return { devices: 0, openPairings: 0, firstPairingEnds: undefined };
  const ends = Object.values(account.pairings).filter((one) =>
    one.keyId === id && one.taken === undefined && one.expiresAt > now
  ).map(({ expiresAt }) => expiresAt);
  return {
    devices: devicesOfKey(account, id),
    openPairings: ends.length,
    firstPairingEnds: ends.length === 0 ? undefined : Math.min(...ends),
  };
}

/** The account of each key, cached because every request needs it. */
class Places {
  readonly #context: NatsContext;
  readonly #known = new Map<string, Place>();

  constructor(context: NatsContext) {
    this.#context = context;
  }

  /** Called before the key is stored: a place whose key is missing finds nothing. */
  async add(place: Place, hash: string): Promise<void> {
    const { state, subjects } = this.#context;
    const text = JSON.stringify(place);
    await Promise.all(
      [subjects.hash(hash), subjects.key(place.id)].map((subject) => state.put(subject, text)),
    );
  }

  async find(subject: string): Promise<Place | undefined> {
    const known = this.#known.get(subject);
    if (known !== undefined) return known;
    const entry = await this.#context.state.get(subject);
    if (entry === undefined) return undefined;
    const place = JSON.parse(entry.text) as Place;
    if (this.#known.size >= REMEMBERED_MAX) this.#known.clear();
    this.#known.set(subject, place);
    return place;
  }
}

/** Oldest first. */
function keysOf(accounts: readonly Account[]): KeyRecord[] {
  const keys = accounts.flatMap(({ keys }) => Object.values(keys)).map(keyOf);
  return keys.filter((key) => key !== undefined).sort((one, other) =>
    one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1)
  );
}

export function keyOf(stored: StoredKey | undefined): KeyRecord | undefined {
  if (stored === undefined) return undefined;
  const hash = decodeBase64url(stored.hash);
  if (hash === undefined) {
    throw new StoreUnavailable(`Cannot read the key "${stored.id}": its hash is damaged`);
  }
  const { role, deviceId, parent, revokedAt } = stored;
  return { ...stored, hash, role, deviceId, parent, revokedAt };
}

/** Number of devices of the key that are not revoked, plus those of the keys that its pairing codes created. */
export function devicesOfKey({ owners, devices, keys }: Account, id: string): number {
  const own = Object.entries(owners).filter(([device, owner]) =>
    owner === id && devices[device]?.revokedAt === undefined
  );
  const children = Object.values(keys).filter((key) => key.parent === id && key.revokedAt === undefined);
  return own.length + children.length;
}

interface KeysToRevoke {
  ids: readonly string[];
  now: number;
  only?: boolean;
}

/** Revokes these keys and, unless `only`, their descendants with their devices; returns the ids of the keys it revoked. */
export function revokeKeys(account: Account, { ids, now, only = false }: KeysToRevoke): string[] {
  const found = only ? new Set(ids) : withDescendants(account, ids);
  return [...found].filter((id) => {
    const key = account.keys[id];
    if (key === undefined || key.revokedAt !== undefined) return false;
    key.revokedAt = now;
    if (!ids.includes(id) && key.deviceId !== undefined) revokeDeviceOf(account, key.deviceId, now);
    return true;
  });
}

function revokeDeviceOf({ devices }: Account, id: string, now: number): void {
  const device = devices[id];
  if (device !== undefined && device.revokedAt === undefined) device.revokedAt = now;
}

/** The keys themselves first. */
function withDescendants({ keys }: Account, ids: readonly string[]): Set<string> {
  const found = new Set(ids);
  for (const id of found) {
    for (const key of Object.values(keys)) if (key.parent === id) found.add(key.id);
  }
  return found;
}

/** Browsers that signed in with the old key keep that key and their devices. */
function replaceKey(account: Account, { from, to }: { from: string; to: string }): void {
  const { owners, devices, keys } = account;
  for (const [device, owner] of Object.entries(owners)) {
    if (owner === from && devices[device]?.kind !== "phone") owners[device] = to;
  }
  for (const key of Object.values(keys)) if (key.parent === from && key.id !== to) key.parent = to;
}

/**
 * Follows the accounts, whose notes change with each revocation. The revocation itself is the announcement, so that a
 * node that dies right after it leaves nothing open elsewhere.
 */
function watch(context: NatsContext, handler: (revocation: Revocation) => void): () => void {
  const { state, subjects, account: accountOf } = context;
  const known = new Map<string, string>();
  let isOver = false;
  const announce = async (account: string): Promise<void> => {
    const found = await retry(() => accountOf(account).get(), {
      isTransient: () => !isOver,
      backoff: REREAD,
      clock: systemClock,
    });
    for (const revocation of revocationsOf(account, found)) handler(revocation);
  };
  const following = state.follow(
    { filter: subjects.everyAccount, from: state.openedAt + 1 },
    ({ subject, note }) => {
      if (note === (known.get(subject) ?? "")) return;
      if (known.size >= REMEMBERED_MAX) known.clear();
      known.set(subject, note);
      // Fails only after the watch has ended.
      announce(subjectName(subject.slice(subject.lastIndexOf(".") + 1))).catch(() => undefined);
    },
  );
  // A stream that cannot be followed is reported by `ready`.
  following.catch(() => undefined);
  return () => {
    isOver = true;
    following.then(({ stop }) => stop(), () => undefined);
  };
}

/** Returns all revocations of an account: for one that was handled before, nothing is left to close. */
function revocationsOf(account: string, { keys, devices }: Account): Revocation[] {
  const of = (kind: Revocation["kind"], found: readonly { id: string; revokedAt?: number | undefined }[]) =>
    found.filter(({ revokedAt }) => revokedAt !== undefined).map(({ id }) => ({ kind, account, id }));
  return [...of("device", Object.values(devices)), ...of("key", Object.values(keys))];
}
