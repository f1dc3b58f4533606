/** Devices in NATS: part of their account's document, with their presence apart, because it changes often. */
import type { Account, NatsContext } from "./nats_context.ts";
import { devicesOfKey, revokeKeys } from "./nats_keys.ts";
import { eachOf } from "./nats_streams.ts";
import type { Presences } from "./nats_presences.ts";
import type {
  ClaimOutcome,
  DeviceClaim,
  DeviceName,
  DeviceRecord,
  DeviceStore,
  RevokedDevice,
} from "./store.ts";

type NewDevice = Omit<DeviceRecord, "revokedAt">;

interface NatsDevicesOptions {
  presences: Presences;
  /** No push beyond this one was sent by this node so far. */
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
      const outcome = await accountOf(device.account).change((account) => {
        const refusal = refusalOf(account, { device, claim });
        if (refusal !== undefined) return refusal;
        account.owners[device.id] = claim.keyId;
        save(account, device);
        return "claimed";
      });
      if (outcome === "claimed") await presences.set(device, device);
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
  const revoked = await context.account(account).change((found) => revokeDevice(found, { id, now }));
  if (revoked === undefined) return undefined;
  const stored = await context.state.get(context.subjects.inventory(account, id));
  if (stored !== undefined) await context.state.remove(stored.seq);
  return revoked;
}

function save({ devices }: Account, device: NewDevice): void {
  const { account, id, kind, name, version, publicKey } = device;
  const known = devices[id];
  devices[id] = {
    ...{ account, id, kind, name, version, publicKey },
    createdAt: known?.createdAt ?? device.createdAt,
    revokedAt: known?.revokedAt,
  };
}

/** Whether the device is known and not revoked. */
export function isActive(device: { revokedAt?: number | undefined } | undefined): boolean {
  return device !== undefined && device.revokedAt === undefined;
}

/** A revoked key owns nothing. */
export function ownerOf({ owners, keys }: Account, device: string): string | undefined {
  const owner = owners[device];
  const key = owner === undefined ? undefined : keys[owner];
  return key === undefined || key.revokedAt !== undefined ? undefined : owner;
}

/** Why the key cannot claim the device. */
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
 * By devices that are not revoked, by keys that its pairing codes created, or by the device that it is bound to, which may
 * never have connected.
 */
function isUsedElsewhere({ owners, devices, keys }: Account, key: string): boolean {
  return keys[key]?.deviceId !== undefined ||
    Object.entries(owners).some(([id, owner]) => owner === key && isActive(devices[id])) ||
    Object.values(keys).some(({ parent, revokedAt }) => parent === key && revokedAt === undefined);
}
