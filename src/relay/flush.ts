/** The end of a stop, once clients and requests have gone: what the store must still take, for as long as the stop may last. */
import { atMost } from "../async/clock.ts";
import { StoreUnavailable } from "../store/store.ts";
import type { Services } from "./handler.ts";

/** Of the time that a flush has, what is kept for marking devices offline. */
const OFFLINE_MS = 500;
/** How long closing the store and the bus may take. */
const CLOSE_MS = 700;

type Flushed = Pick<Services, "clock" | "log"> & {
  tasks: Pick<Services["tasks"], "settled">;
  store: Pick<Services["store"], "setAllOffline" | "close">;
  bus: Pick<Services["bus"], "close">;
};

/** Waits for a store that does not answer no longer than `limitMs`, and as long again as closing it may take. */
export async function flush(
  { tasks, store, bus, clock, log }: Flushed,
  limitMs: number,
): Promise<void> {
  const end = clock.elapsed() + limitMs;
  const isSettled = await atMost(tasks.settled(), { clock, ms: limitMs - OFFLINE_MS });
  // If the store fails here, it still lists the listeners as online; the next start corrects that.
  const offline = store.setAllOffline(clock.now()).catch((error) => {
    if (!(error instanceof StoreUnavailable)) throw error;
    log(`! ${error.message}`);
  });
  const isOffline = await atMost(offline, { clock, ms: end - clock.elapsed() });
  if (!isSettled || !isOffline) log("! stopping although the store has not stored everything");
  await atMost(bus.close().then(() => store.close()), { clock, ms: CLOSE_MS });
}
