/** Devices in NATS, with their pairing codes, Web Push subscriptions, hooks and inventories. */
import { encodeBase64url, utf8Length } from "../async/encodings.ts";
import type { HookState } from "../protocol/http.ts";
import { CLAIMED_PAIRINGS_PER_KEY } from "../protocol/limits.ts";
import {
  type Account,
  type Documents,
  isActive,
  type NatsContext,
  type StoredPairing,
} from "./nats_context.ts";
import { devicesOfKey, revokeKeys } from "./nats_keys.ts";
import type { Presences } from "./nats_presences.ts";
import { eachOf } from "./nats_streams.ts";
import {
  type ClaimOutcome,
  type DeviceClaim,
  type DeviceName,
  type DeviceRecord,
  type DeviceStore,
  type HookRecord,
  HOOKS_MAX,
  type HookStore,
  type InventoryRecord,
  type InventoryStore,
  type PairingRecord,
  type PairingStore,
  type RevokedDevice,
  StoreUnavailable,
  type WebPushStore,
} from "./store.ts";

type NewDevice = Omit<DeviceRecord, "revokedAt">;

interface NatsDevicesOptions {
  presences: Presences;
  /** The newest push that this node may have sent so far. */
  newestPush(): Promise<number>;
}

export function natsDevices(
  context: NatsContext,
  { presences, newestPush }: NatsDevicesOptions,
): DeviceStore {
  const { account: accountOf } = context;
  return {
    async saveDevice(device) {
      await accountOf(device.account).change((account) => save(account, device));
      await presences.set(device, device);
    },
    async claimDevice(device, claim) {
      const wasHere = presences.isHere(device);
      // Before the claim is stored, so that the end of the connection, if it comes meanwhile, is noted after this.
      presences.note(device, device);
      const outcome = await accountOf(device.account).change((account) => {
        const refusal = refusalOf(account, { device, claim });
        if (refusal !== undefined) return refusal;
        account.owners[device.id] = claim.keyId;
        save(account, device);
        return "claimed";
      });
      if (outcome === "claimed") await presences.write(device, device);
      else if (!wasHere) presences.note(device, { online: false });
      return outcome;
    },
    deviceOwner: async ({ account, id }) => ownerOf(await accountOf(account).get(), id),
    releaseDevice: ({ account, id }) =>
      accountOf(account).change((found) => {
        const isOwned = ownerOf(found, id) !== undefined;
        if (isOwned) delete found.owners[id];
        return isOwned;
      }),
    async findDevice({ account, id }) {
      const { devices } = await accountOf(account).get();
      const device = devices[id];
      return device && await presences.of(device);
    },
    async listDevices(account) {
      const { devices } = await accountOf(account).get();
      const active = Object.values(devices).filter(isActive);
      active.sort((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1));
      return await eachOf(active, (device) => presences.of(device));
    },
    nodeOf: (device) => presences.nodeOf(device),
    isNodeAlive: (node) => presences.isAlive(node),
    setOnline: setOnlineOf(context, { presences, newestPush }),
    setAllOffline: (now) => presences.setAllOffline(now, newestPush),
    revokeDevice: (device, now) => revokeWithInventory(context, { device, now }),
  };
}

function setOnlineOf(
  context: NatsContext,
  { presences, newestPush }: NatsDevicesOptions,
): DeviceStore["setOnline"] {
  return async (device, { online, now }) => {
    presences.note(device, { online });
    const { devices } = await context.account(device.account).get();
    const known = devices[device.id];
    if (known === undefined) return;
    const sentUpTo = online || known.kind !== "listener" ? undefined : await newestPush();
    await presences.write(device, { online, lastSeen: now, sentUpTo });
  };
}

async function revokeWithInventory(
  context: NatsContext,
  { device: { account, id }, now }: { device: DeviceName; now: number },
): ReturnType<DeviceStore["revokeDevice"]> {
  const revoked = await context.account(account).revoke((found) => revokeDevice(found, { id, now }));
  if (revoked === undefined) return undefined;
  const stored = await context.state.get(context.subjects.inventory(account, id));
  if (stored !== undefined) await context.state.remove(stored.seq);
  await sessionIndex(context).change(context.subjects.sessions(account), (all) => void delete all[id]);
  return revoked;
}

function save({ devices }: Account, device: NewDevice): void {
  const { account, id, kind, name, version, publicKey } = device;
  const known = devices[id];
  devices[id] = {
    account,
    id,
    kind,
    name,
    version,
    publicKey,
    createdAt: known?.createdAt ?? device.createdAt,
    revokedAt: known?.revokedAt,
  };
}

/** Returns the id of the key that owns the device; a revoked key owns nothing. */
function ownerOf({ owners, keys }: Account, device: string): string | undefined {
  const owner = owners[device];
  const key = owner === undefined ? undefined : keys[owner];
  return key === undefined || key.revokedAt !== undefined ? undefined : owner;
}

/** Returns why the key cannot claim the device; undefined when it can. */
function refusalOf(
  account: Account,
  { device, claim: { keyId, most } }: { device: NewDevice; claim: DeviceClaim },
): Exclude<ClaimOutcome, "claimed"> | undefined {
  const key = account.keys[keyId];
  const known = account.devices[device.id];
  if (key === undefined || key.revokedAt !== undefined || known?.revokedAt !== undefined) return "revoked";
  const owner = ownerOf(account, device.id);
  if (owner !== undefined) return owner === keyId ? undefined : "taken";
  if (devicesOfKey(account, keyId) >= most.ofKey) return "key_full";
  const active = Object.values(account.devices).filter(isActive);
  return known === undefined && active.length >= most.ofAccount ? "account_full" : undefined;
}

function revokeDevice(
  account: Account,
  { id, now }: { id: string; now: number },
): RevokedDevice | undefined {
  const owner = ownerOf(account, id);
  const device = account.devices[id];
  if (device === undefined || device.revokedAt !== undefined) return undefined;
  device.revokedAt = now;
  delete account.webPush[id];
  const ids = Object.values(account.keys).filter(({ deviceId }) => deviceId === id).map((key) => key.id);
  let workingKey: string | undefined;
  if (owner !== undefined && !ids.includes(owner)) {
    if (isUsedElsewhere(account, owner)) workingKey = owner;
    else ids.push(owner);
  }
  return { keys: revokeKeys(account, { ids, now }), workingKey };
}

/**
 * True if the key is used by devices that are not revoked, by keys that its pairing codes created, or by the device
 * that it is bound to, which may never have connected.
 */
function isUsedElsewhere({ owners, devices, keys }: Account, key: string): boolean {
  return keys[key]?.deviceId !== undefined ||
    Object.entries(owners).some(([id, owner]) => owner === key && isActive(devices[id])) ||
    Object.values(keys).some(({ parent, revokedAt }) => parent === key && revokedAt === undefined);
}

export function natsPairings(context: NatsContext): PairingStore {
  const { state, subjects, account: accountOf } = context;
  const placeOf = async (codeHash: Uint8Array): Promise<{ code: string; account: string | undefined }> => {
    const code = encodeBase64url(codeHash);
    return { code, account: (await state.get(subjects.code(code)))?.text };
  };
  return {
    async insertPairing({ codeHash, account, keyId, scopes, expiresAt, offer }) {
      const code = encodeBase64url(codeHash);
      await accountOf(account).change(({ pairings }) => {
        pairings[code] = { keyId, scopes, expiresAt, offer };
        removeClaimed(pairings, keyId);
      });
      await state.put(subjects.code(code), account);
    },
    async takePairing(codeHash, now) {
      const { code, account } = await placeOf(codeHash);
      if (account === undefined) return undefined;
      return await accountOf(account).change(({ pairings }) => {
        const pairing = pairings[code];
        if (pairing === undefined || pairing.taken || pairing.expiresAt <= now) return undefined;
        pairing.taken = true;
        return pairingOf(pairing, { codeHash, account });
      });
    },
    async completePairing(codeHash, phone) {
      const { code, account } = await placeOf(codeHash);
      if (account === undefined) return;
      await accountOf(account).change(({ pairings }) => {
        const pairing = pairings[code];
        if (pairing !== undefined) pairing.phone = phone;
      });
    },
    async findPairing(codeHash) {
      const { code, account } = await placeOf(codeHash);
      if (account === undefined) return undefined;
      const { pairings } = await accountOf(account).get();
      const pairing = pairings[code];
      if (pairing === undefined) return undefined;
      const phone = pairing.phone === undefined ? {} : { phone: pairing.phone };
      return { ...pairingOf(pairing, { codeHash, account }), ...phone };
    },
    removePairings: (bounds) => removePairings(context, bounds),
  };
}

/** Removes all but the newest of the key's claimed codes. */
function removeClaimed(pairings: Account["pairings"], keyId: string): void {
  const claimed = Object.entries(pairings).filter(([, one]) => one.keyId === keyId && one.taken === true);
  claimed.sort(([, one], [, other]) => other.expiresAt - one.expiresAt);
  for (const [code] of claimed.slice(CLAIMED_PAIRINGS_PER_KEY)) delete pairings[code];
}

async function removePairings(
  { state, subjects, account: accountOf }: NatsContext,
  bounds: { openBefore: number; takenBefore: number },
): Promise<void> {
  const codes = await state.list(subjects.everyCode);
  const accounts = [...new Set(codes.map(({ text }) => text))];
  await eachOf(accounts, (account) => accountOf(account).change((found) => removeOld(found, bounds)));
  await eachOf(codes, async ({ subject, seq, text }) => {
    const { pairings } = await accountOf(text).get();
    const isKept = Object.keys(pairings).some((code) => subjects.code(code) === subject);
    if (!isKept) await state.remove(seq);
  });
}

export function pairingOf(
  { keyId, scopes, expiresAt, offer }: StoredPairing,
  { codeHash, account }: Pick<PairingRecord, "codeHash" | "account">,
): PairingRecord {
  return { codeHash, account, keyId, scopes, expiresAt, ...(offer === undefined ? {} : { offer }) };
}

function removeOld(
  { pairings }: Account,
  { openBefore, takenBefore }: { openBefore: number; takenBefore: number },
): void {
  for (const [code, { taken, expiresAt }] of Object.entries(pairings)) {
    const isOld = expiresAt <= takenBefore || taken === undefined && expiresAt <= openBefore;
    if (isOld) delete pairings[code];
  }
}

export function natsWebPush({ state, subjects, account: accountOf }: NatsContext): WebPushStore {
  return {
    saveWebPush: ({ account, id }, subscription) =>
      accountOf(account).change(({ webPush }) => {
        webPush[id] = subscription;
      }),
    removeWebPush: ({ account, id }, endpoint) =>
      accountOf(account).change(({ webPush }) => {
        const stored = webPush[id];
        if (stored === undefined || endpoint !== undefined && stored.endpoint !== endpoint) return false;
        delete webPush[id];
        return true;
      }),
    findWebPush: async ({ account, id }) => (await accountOf(account).get()).webPush[id],
    async listWebPush(account) {
      const found = await accountOf(account).get();
      const active = Object.entries(found.webPush).filter(([id]) =>
        isActive(found.devices[id]) && ownerOf(found, id) !== undefined
      );
      return new Map(active.sort(([one], [other]) => one < other ? -1 : 1));
    },
    async keepSecret(name, made) {
      const subject = subjects.secret(name);
      const known = await state.get(subject);
      if (known !== undefined) return known.text;
      if (await state.put(subject, made, { expected: 0 }) !== undefined) return made;
      const kept = await state.get(subject);
      if (kept === undefined) throw new StoreUnavailable(`Cannot read the secret "${name}" from NATS`);
      return kept.text;
    },
  };
}

export function natsHooks(context: NatsContext): HookStore {
  const { subjects } = context;
  const hooks = context.documents<Record<string, HookRecord>>(() => ({}), (all) => [all]);
  return {
    countHook: ({ account, id }, now) =>
      hooks.change(subjects.hooks(account), (all) => countHook(all, { account, id, now })),
    async listHooks(account) {
      const all = Object.values(await hooks.get(subjects.hooks(account)) ?? {});
      return all.sort((one, other) => one.firstSeen - other.firstSeen || (one.id < other.id ? -1 : 1));
    },
    setHookState: ({ account, id }, state) =>
      hooks.change(subjects.hooks(account), (all) => {
        const hook = all[id];
        if (hook === undefined) return undefined;
        hook.state = state;
        return { ...hook };
      }),
  };
}

/**
 * Counts a push of the hook. Muted and revoked hooks are never dropped: a client that invents ids must not be able to
 * activate one.
 */
function countHook(
  all: Record<string, HookRecord>,
  { account, id, now }: { account: string; id: string; now: number },
): HookState {
  const known = all[id];
  if (known !== undefined) {
    known.pushes += 1;
    known.lastSeen = now;
    return known.state;
  }
  if (Object.keys(all).length >= HOOKS_MAX) {
    const active = Object.values(all).filter(({ state }) => state === "active");
    const [oldest] = active.sort((one, other) =>
      one.lastSeen - other.lastSeen || (one.id < other.id ? -1 : 1)
    );
    if (oldest === undefined) return "active";
    delete all[oldest.id];
  }
  all[id] = { account, id, state: "active", pushes: 1, firstSeen: now, lastSeen: now };
  return "active";
}

/** Names and sizes of an account's inventories, by device: routing a push reads one small document. */
export type SessionIndex = Record<string, { names: string[]; bytes: number }>;

/**
 * The bytes of inventory that each byte of session names counts as. The names of all hosts are one message, of which a
 * key, whose inventories are limited, may fill an eighth.
 */
const NAME_WEIGHT = 16;

/** The index entry of an inventory: its names and size. */
export function indexOf(
  { sessions, details }: Pick<InventoryRecord, "sessions" | "details">,
): SessionIndex[string] {
  const names = [...new Set(sessions.map(({ name }) => name))];
  return { names, bytes: Math.max(sizeOf(sessions) + sizeOf(details), NAME_WEIGHT * sizeOf(names)) };
}

export function sessionIndex(context: NatsContext): Documents<SessionIndex> {
  return context.documents<SessionIndex>(() => ({}), (index) => [index]);
}

/**
 * How long an unchanged report is not written again, to save the cost of a write. Nothing depends on the newest time: a
 * host that is offline was last seen when its connection ended, or when its node was last alive.
 */
const UNCHANGED_MS = 300_000;

export type StoredInventory = Partial<InventoryRecord>;

export function natsInventories(context: NatsContext): InventoryStore {
  const { subjects, account: accountOf } = context;
  const inventories = context.documents<StoredInventory>(() => ({}));
  const index = sessionIndex(context);
  const find = async (account: string, id: string): Promise<InventoryRecord | undefined> =>
    wholeInventory(await inventories.get(subjects.inventory(account, id)));
  const read = async (account: string) => {
    const [found = {}, { devices, owners }] = await Promise.all([
      index.get(subjects.sessions(account)),
      accountOf(account).get(),
    ]);
    const active = Object.entries(found).filter(([id]) => isActive(devices[id]));
    return { owners, active: active.sort(([one], [other]) => one < other ? -1 : 1) };
  };
  return {
    unchangedForMs: UNCHANGED_MS,
    async saveInventory(inventory) {
      const { account, deviceId, sessions, details } = inventory;
      const found = await inventories.change(subjects.inventory(account, deviceId), (stored) => {
        Object.assign(stored, { ...inventory, details: details ?? stored.details });
        return indexOf({ sessions, details: stored.details });
      });
      await index.change(subjects.sessions(account), (all) => void (all[deviceId] = found));
    },
    findInventory: ({ account, id }) => find(account, id),
    async listInventories(account) {
      const { active } = await read(account);
      const all = await eachOf(active, ([id]) => find(account, id));
      return all.filter((one) => one !== undefined);
    },
    async inventoryBytes(keyId, { account, id }) {
      const { owners, active } = await read(account);
      const counted = active.filter(([device]) => device !== id && owners[device] === keyId);
      return counted.reduce((sum, [, { bytes }]) => sum + bytes, 0);
    },
    devicesWithSession: async (account, name) =>
      (await read(account)).active.filter(([, { names }]) => names.includes(name)).map(([id]) => id),
  };
}

export function wholeInventory(stored: StoredInventory | undefined): InventoryRecord | undefined {
  const { account, deviceId, sessions, reportedAt, details } = stored ?? {};
  if (account === undefined || deviceId === undefined || sessions === undefined || reportedAt === undefined) {
    return undefined;
  }
  return { account, deviceId, sessions, ...(details === undefined ? {} : { details }), reportedAt };
}

function sizeOf(value: unknown): number {
  return value === undefined ? 0 : utf8Length(JSON.stringify(value));
}
