/** What listeners report, in NATS: a message for each host, and one with the names of all sessions of an account. */
import { utf8Length } from "../async/encodings.ts";
import { type Documents, isActive, type NatsContext } from "./nats_context.ts";
import { eachOf } from "./nats_streams.ts";
import type { InventoryRecord, InventoryStore } from "./store.ts";

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
