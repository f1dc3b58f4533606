/** Devices whose last connection here has closed: marks them as offline in the store, and notifies phones. */
import { type DeviceName, nameKey, StoreUnavailable } from "../store/store.ts";
import type { Services } from "./handler.ts";
import type { Departure } from "./hub.ts";
import { publishSessions } from "./sessions.ts";

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
