/** What a node does after messages between nodes may have been lost: its clients reconnect, and read again what they missed. */
import type { Services } from "./handler.ts";

/** Gaps of other nodes are handled together: a NATS server that restarts cuts off many nodes at once. */
const TOGETHER_MS = 2_000;

/** Returns how to stop. */
export function closeGaps(services: Services): () => void {
  const { bus, clock, hub, metrics, remote, store, streams, tasks } = services;
  let cancel: (() => void) | undefined;
  const closeClients = (): void => {
    cancel?.();
    cancel = undefined;
    hub.closeAfterGap();
    tasks.run(hub.closeMoved(async (device) => await store.nodeOf(device) !== undefined));
  };
  const stop = bus.watchGaps((node) => {
    if (node === bus.node) {
      metrics.gaps.add();
      remote.endAfterGap(streams);
      return closeClients();
    }
    remote.endAfterGap(streams, node);
    cancel ??= clock.after(TOGETHER_MS, closeClients);
  });
  return () => {
    stop();
    cancel?.();
  };
}
