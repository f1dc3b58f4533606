/** What a node does after messages between nodes may have been lost: its clients reconnect, and read what they missed. */
import type { Services } from "./handler.ts";
import { counter } from "./metrics.ts";

const GAPS = counter(
  "svc_nats_gaps_total",
  "Reconnects to NATS, and times that NATS dropped messages because this node read too slowly.",
);

/** Gaps of other nodes are handled together: a NATS server that restarts cuts off many nodes at once. */
const TOGETHER_MS = 2_000;
/** The shortest time from a closing to the next one for a gap of another node: a node with a bad line has many. */
const SPACING_MS = 30_000;

/** Closes clients after every gap, after one of this node at once. Returns the function that stops it. */
export function closeGaps(services: Services): () => void {
  const { bus, clock, hub, metrics, remote, store, streams, tasks } = services;
  let cancel: (() => void) | undefined;
  let closedAt = -Infinity;
  const closeClients = (): void => {
    cancel?.();
    cancel = undefined;
    closedAt = clock.elapsed();
    hub.closeAfterGap();
    tasks.run(hub.closeMoved(async (device) => await store.nodeOf(device) !== undefined));
  };
  const stop = bus.watchGaps((node) => {
    if (node === bus.node) {
      metrics.of(GAPS).add();
      remote.endAfterGap(streams);
      return closeClients();
    }
    remote.endAfterGap(streams, node);
    const wait = Math.max(TOGETHER_MS, closedAt + SPACING_MS - clock.elapsed());
    cancel ??= clock.after(wait, closeClients);
  });
  return () => {
    stop();
    cancel?.();
  };
}
