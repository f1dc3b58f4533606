/** Inventories: stored as listeners report them, and sent to phones. */
import type { DeviceSessions, SessionEntry, SessionsAnswer } from "../protocol/session.ts";
import type { DeviceName, DeviceRecord, InventoryRecord } from "../store/store.ts";
import { json, type KeyedCall } from "./handler.ts";
import { publishFrame } from "./hub.ts";
import type { Services } from "./services.ts";

/** `GET /sessions`. */
export async function listSessions({ store }: Services, { key }: KeyedCall): Promise<Response> {
  const [devices, inventories] = await Promise.all([
    store.listDevices(key.account),
    store.listInventories(key.account),
  ]);
  const listeners = devices.filter((device) => device.kind === "listener");
  const answer: SessionsAnswer = { devices: listeners.map((device) => sessionsOf(device, inventories)) };
  return json(answer);
}

function sessionsOf(device: DeviceRecord, inventories: readonly InventoryRecord[]): DeviceSessions {
  const found = inventories.find((inventory) => inventory.deviceId === device.id);
  const { id, name, online, lastSeen } = device;
  const sessions = [...found?.sessions ?? []];
  return { deviceId: id, host: name, online, lastSeen: Math.max(lastSeen, found?.reportedAt ?? 0), sessions };
}

/** Stores a report; resolves once it is durable. */
export async function saveInventory(
  { store, clock }: Services,
  { device, sessions }: { device: DeviceName; sessions: readonly SessionEntry[] },
): Promise<void> {
  const { account, id } = device;
  await store.saveInventory({ account, deviceId: id, sessions, reportedAt: clock.now() });
}

/** Sends phones the stored sessions of a listener, and whether it is online. */
export async function publishSessions({ store, bus }: Services, { account, id }: DeviceName): Promise<void> {
  const [device, inventories] = await Promise.all([
    store.findDevice({ account, id }),
    store.listInventories(account),
  ]);
  if (device?.kind !== "listener") return;
  const data = sessionsOf(device, inventories);
  publishFrame(bus, { account, to: { phones: true }, event: "sessions.changed", data });
}
