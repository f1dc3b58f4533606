/** The outcome of a push, and its progress. */
import type { PushState, Reason } from "../../protocol/receipt.ts";

/**
 * Final states. `refused`: the message was not submitted. `typed`: into a pane of an unknown agent, where nothing can
 * confirm more. `unknown`: it may have been submitted, and is never typed again.
 */
export interface Outcome {
  state: Extract<PushState, "submitted" | "typed" | "refused" | "expired" | "unknown" | "ignored">;
  reason?: Reason;
  retryAfterSeconds?: number;
  /** The session of a started agent. */
  agentSessionName?: string;
  /** The target pane, once it was resolved. */
  pane?: string;
}

/** Intermediate states. */
export interface Progress {
  state: Extract<PushState, "delivered" | "held" | "typed">;
  reason?: Reason;
}

export function refused(reason: Reason, retryAfterSeconds?: number): Outcome {
  return { state: "refused", reason, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
}

/** The daemon stops while a message waits: the message stays open, and the relay sends it again. */
export class Stopping extends Error {
  override name = "Stopping";
}
