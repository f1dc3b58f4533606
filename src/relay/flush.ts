/** The last step of a stop, once clients and requests are gone: waits until the store has stored everything, within a limit. */
import { atMost } from "../async/clock.ts";
import { StoreUnavailable } from "../store/store.ts";
import type { Services } from "./handler.ts";

/** The part of a flush's time that is reserved for marking devices offline. */
const OFFLINE_MS = 500;
/** How long closing the store and the bus may take. */
const CLOSE_MS = 700;

type Flushed = Pick<Services, "clock" | "log"> & {
  tasks: Pick<Services["tasks"], "settled">;
  store: Pick<Services["store"], "setAllOffline" | "close">;
  bus: Pick<Services["bus"], "close">;
};

/** Waits at most `limitMs` for the store, and `CLOSE_MS` more for closing it. */
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
