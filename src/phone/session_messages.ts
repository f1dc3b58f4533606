/** For session views, kept out of the list of sessions: times by the relay's clock, and cancelled messages. */
import type { Later } from "../protocol/push.ts";
import { SKEW_MS } from "../protocol/limits.ts";
import type { PhoneState } from "./state.ts";

/**
 * Converts the time to the relay's clock. For a paired host, a relay that lies about it shifts it by `SKEW_MS` at most.
 */
export function laterByRelay(
  later: Later,
  { clockOffsetMs, isPaired }: { clockOffsetMs: number; isPaired: boolean },
): Later {
  if (later.kind !== "at") return later;
  const limitMs = isPaired ? SKEW_MS : Infinity;
  return { kind: "at", at: Math.round(later.at + Math.min(limitMs, Math.max(-limitMs, clockOffsetMs))) };
}

/** The ids of the messages whose cancellation their host has accepted: they will not be typed. */
export function cancelledByHost({ messages }: Pick<PhoneState, "messages">): ReadonlySet<string> {
  const taken = [...messages.values()].filter(({ progress }) =>
    progress.kind === "taken" && progress.receipt.state === "submitted" && progress.unproven === undefined
  );
  return new Set(taken.flatMap(({ cancels }) => cancels ?? []));
}
