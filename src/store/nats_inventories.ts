/** In NATS: what listeners report, the codes by which phones are paired, Web Push subscriptions, and hooks. */
import { encodeBase64url, utf8Length } from "../async/encodings.ts";
import type { HookState } from "../protocol/http.ts";
import type { Account, NatsContext, StoredPairing } from "./nats_context.ts";
import { isActive, ownerOf } from "./nats_devices.ts";
import { eachOf } from "./nats_streams.ts";
import {
  type HookRecord,
  HOOKS_MAX,
  type HookStore,
  type InventoryRecord,
  type InventoryStore,
  type PairingRecord,
  type PairingStore,
  StoreUnavailable,
  type WebPushStore,
} from "./store.ts";

/** Names and sizes of an account's inventories, by device: routing a push reads one small document. */
export type SessionIndex = Record<string, { names: string[]; bytes: number }>;

/**
 * What a write costs is saved for so long. Nothing depends on the newest time: a host that is offline was last seen when its
 * connection ended, or when its node was last alive.
 */
const UNCHANGED_MS = 300_000;

export type StoredInventory = Partial<InventoryRecord>;

export function natsInventories(context: NatsContext): InventoryStore {
  const { subjects, account: accountOf } = context;
  const inventories = context.documents<StoredInventory>(() => ({}));
  const index = context.documents<SessionIndex>(() => ({}));
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
      const bytes = await inventories.change(subjects.inventory(account, deviceId), (stored) => {
        Object.assign(stored, { ...inventory, details: details ?? stored.details });
        return sizeOf(stored.sessions) + sizeOf(stored.details);
      });
      const names = [...new Set(sessions.map(({ name }) => name))];
      await index.change(subjects.sessions(account), (all) => void (all[deviceId] = { names, bytes }));
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

export function sizeOf(value: unknown): number {
  return value === undefined ? 0 : utf8Length(JSON.stringify(value));
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
  const hooks = context.documents<Record<string, HookRecord>>(() => ({}));
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

/** Muted and revoked hooks stay: whoever invents ids must not be able to activate one. */
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
