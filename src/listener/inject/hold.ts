/** How long a message waits for what stands in its way, and what is reported about that. */
import type { Command, InjectContext } from "./context.ts";
import { type HoldReason, LOCAL_USER_HOLD_MS } from "./pane_check.ts";

type HeldContext = Pick<InjectContext, "elapsed" | "report"> & { command: Pick<Command, "id"> };

/** The last reported hold reason, and since when the message has waited for the local user. */
export interface Held {
  reason?: HoldReason;
  localUserSince?: number;
}

/** Each new reason is reported once. */
export function reportHold(attempt: HeldContext, held: Held, reason: HoldReason | undefined): Held {
  if (reason === undefined) return held;
  if (held.reason !== reason) attempt.report(attempt.command.id, { state: "held", reason });
  return reason === "desk_busy" || reason === "phone_draft"
    ? { reason, localUserSince: held.localUserSince ?? attempt.elapsed() }
    : { reason };
}

/** True once the message has waited long enough for the local user. */
export function isOverdue(attempt: HeldContext, { localUserSince }: Held): boolean {
  return localUserSince !== undefined && attempt.elapsed() - localUserSince >= LOCAL_USER_HOLD_MS;
}
