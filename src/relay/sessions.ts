/** Inventories, stored as reported and sent to phones, and devices whose last connection has closed. */
import { utf8Length } from "../async/encodings.ts";
import type { Frame } from "../protocol/frames.ts";
import { INVENTORIES_PER_KEY_MAX_BYTES } from "../protocol/limits.ts";
import type { DeviceSessions, ReportedDetails, SessionEntry, SessionsAnswer } from "../protocol/session.ts";
import { equalDigests, sha256 } from "../runtime/digest.ts";
import {
  type DeviceName,
  type DeviceRecord,
  type InventoryRecord,
  type KeyRecord,
  nameKey,
  StoreUnavailable,
} from "../store/store.ts";
import { OVER_BUDGET } from "./budgets.ts";
import type { Connection, WaitingReport } from "./connection.ts";
import { jsonText, type KeyedCall, readPage, type Services } from "./handler.ts";
import { type Departure, publishFrame } from "./hub.ts";

/** `GET /sessions`. */
export async function listSessions(services: Services, { key }: KeyedCall): Promise<Response> {
  const text = await readPage(services, {
    key,
    async read() {
      const value = JSON.stringify(await readSessions(services, key.account));
      return { value, bytes: utf8Length(value) };
    },
  });
  return jsonText(text);
}

async function readSessions({ store }: Services, account: string): Promise<SessionsAnswer> {
  const [devices, inventories] = await Promise.all([
    store.listDevices(account),
    store.listInventories(account),
  ]);
  const found = new Map(inventories.map((inventory) => [inventory.deviceId, inventory]));
  const listeners = devices.filter((device) => device.kind === "listener");
  return { devices: listeners.map((device) => sessionsOf(device, found.get(device.id))) };
}

function sessionsOf(device: DeviceRecord, found: InventoryRecord | undefined): DeviceSessions {
  const { id, name, online, lastSeen } = device;
  const sessions = [...found?.sessions ?? []];
  return {
    deviceId: id,
    host: name,
    online,
    lastSeen: Math.max(lastSeen, found?.reportedAt ?? 0),
    sessions,
    ...(found?.details === undefined ? {} : { details: found.details }),
  };
}

/** True if the newest report on this connection had the same sessions, and was stored recently. */
function isStillStored(
  { store, clock }: Pick<Services, "store" | "clock">,
  { connection: { report }, digest }: { connection: Pick<Connection, "report">; digest: Uint8Array },
): boolean {
  const { unchangedForMs = 0 } = store;
  return report?.isStored === true && clock.elapsed() - report.at < unchangedForMs &&
    equalDigests(report.digest, digest);
}

/** Stores a report; resolves once it is durable. Returns why it was not stored. */
async function saveInventory(
  { store, clock, metrics }: Services,
  { device, key, sessions, details }: {
    device: DeviceName;
    key: KeyRecord;
    sessions: readonly SessionEntry[];
    details?: ReportedDetails | undefined;
  },
): Promise<"over_budget" | undefined> {
  const { account, id } = device;
  const reported = JSON.stringify(sessions) + JSON.stringify(details ?? {});
  const bytes = utf8Length(reported) + await store.inventoryBytes(key.id, device);
  if (bytes > INVENTORIES_PER_KEY_MAX_BYTES) {
    metrics.of(OVER_BUDGET).add({ budget: "stored_inventories" });
    return "over_budget";
  }
  await store.saveInventory({ account, deviceId: id, sessions, details, reportedAt: clock.now() });
  return undefined;
}

/** Stores the newest of the waiting reports, so that a slow store does not end with an older one. */
export async function takeReport(
  services: Services,
  { connection, frame }: { connection: Connection; frame: Extract<Frame, { event: "listener.sessions" }> },
): Promise<void> {
  const { id, data: { sessions, details } } = frame;
  if (connection.greeted?.role !== "listener") {
    return rejectReport(connection, { id, detail: "not a listener" });
  }
  const received = { id, count: sessions.length };
  const { waiting } = connection;
  if (waiting !== undefined) {
    Object.assign(waiting, { sessions, details: details ?? waiting.details });
    return void waiting.frames.push(received);
  }
  const report: WaitingReport = { sessions, details, frames: [received] };
  connection.waiting = report;
  await connection.reports.run(async () => {
    connection.waiting = undefined;
    // A listener that is gone reports again when it reconnects, which may have happened already.
    if (connection.isOpen) await storeReport(services, { connection, report });
  });
}

async function storeReport(
  services: Services,
  { connection, report: { sessions, details, frames } }: { connection: Connection; report: WaitingReport },
): Promise<void> {
  const { account, greeted, key } = connection;
  if (greeted === undefined) return;
  const device = { account, id: greeted.deviceId };
  const digest = sha256(JSON.stringify(sessions));
  const reject = (detail: string): void => {
    for (const { id } of frames) rejectReport(connection, { id, detail });
  };
  try {
    if (details !== undefined || !isStillStored(services, { connection, digest })) {
      const report = { digest, at: services.clock.elapsed(), isStored: false };
      connection.report = report;
      const refused = await saveInventory(services, { device, key, sessions, details });
      if (refused !== undefined) return reject(refused);
      report.isStored = true;
    }
  } catch (error) {
    reject(error instanceof StoreUnavailable ? "store_unavailable" : "internal");
    throw error;
  }
  for (const { id, count } of frames) {
    connection.sendFrame("listener.stored", { count }, id === undefined ? {} : { re: id });
  }
  // A heartbeat has nothing new for phones.
  const { publishedSessions } = connection;
  if (details === undefined && publishedSessions && equalDigests(publishedSessions, digest)) return;
  await publishSessions(services, device, { details });
  connection.publishedSessions = digest;
}

/** Answers a report that was not stored, including one with bad data, so that the listener can log the reason. */
export function rejectReport(
  connection: Connection,
  { id, detail }: { id?: string | undefined; detail: string },
): void {
  connection.sendFrame("listener.rejected", { reason: detail }, id === undefined ? {} : { re: id });
}

/** Sends phones a listener's stored sessions and whether it is online; with `reported`, only that report's details. */
export async function publishSessions(
  { store, bus }: Services,
  name: DeviceName,
  reported?: { details: ReportedDetails | undefined },
): Promise<void> {
  const [device, inventory] = await Promise.all([store.findDevice(name), store.findInventory(name)]);
  if (device?.kind !== "listener") return;
  const { details, ...data } = sessionsOf(device, inventory);
  const shown = reported === undefined ? details : reported.details;
  publishFrame(bus, {
    account: name.account,
    to: { phones: true },
    event: "sessions.changed",
    data: { ...data, ...(shown === undefined ? {} : { details: shown }) },
  });
}

/** Marks the device as offline and notifies phones. Rejects when the store fails; `repeatDepartures` then retries. */
export async function goOffline(services: Services, device: DeviceName): Promise<void> {
  await depart(services, { ...device, at: services.clock.now() });
}

/** Retries what failed, for devices that are still gone; called about once a second. */
export async function repeatDepartures(services: Services): Promise<void> {
  const { hub } = services;
  const departures = [...hub.departed.values()];
  // So that a slow call and the next one do not retry the same departures.
  hub.departed.clear();
  for (let next = departures.shift(); next !== undefined; next = departures.shift()) {
    if (hub.isClaimed(next)) continue;
    try {
      await depart(services, next);
    } catch (error) {
      for (const other of departures) keep(services, other);
      // The first failure is in the log already.
      if (error instanceof StoreUnavailable) return;
      throw error;
    }
  }
}

async function depart(services: Services, departure: Departure): Promise<void> {
  const { account, id, at } = departure;
  try {
    await services.store.setOnline({ account, id }, { online: false, now: at });
    await publishSessions(services, { account, id });
  } catch (error) {
    keep(services, departure);
    throw error;
  }
}

function keep({ hub: { departed } }: Services, departure: Departure): void {
  const name = nameKey(departure);
  if ((departed.get(name)?.at ?? 0) < departure.at) departed.set(name, departure);
}
