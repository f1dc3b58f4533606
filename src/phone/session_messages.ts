/** What a session's view needs beside the state, and the list of sessions does without: times by the relay's clock, and cancellations that count. */
import type { Later } from "../protocol/later.ts";
import { SKEW_MS } from "../protocol/limits.ts";
import type { PhoneState } from "./state.ts";

/** With the time by the relay's clock. For a paired host, a relay that lies about that moves it by `SKEW_MS` at most. */
export function laterByRelay(
  later: Later,
  { clockOffsetMs, isPaired }: { clockOffsetMs: number; isPaired: boolean },
): Later {
  if (later.kind !== "at") return later;
  const limitMs = isPaired ? SKEW_MS : Infinity;
  return { kind: "at", at: Math.round(later.at + Math.min(limitMs, Math.max(-limitMs, clockOffsetMs))) };
}

/** Ids of the messages that their host will not type any more, since it has taken their cancellation. */
export function cancelledByHost({ messages }: Pick<PhoneState, "messages">): ReadonlySet<string> {
  const taken = [...messages.values()].filter(({ progress }) =>
    progress.kind === "taken" && progress.receipt.state === "submitted" && progress.unproven === undefined
  );
  return new Set(taken.flatMap(({ cancels }) => cancels ?? []));
}
