/** How an injection ends, and what it says on the way. */
import type { PushState, Reason } from "../../protocol/receipt.ts";

/**
 * Final states. `refused`: the message did not get in. `typed`: into a pane of no known agent, where nothing can prove
 * more. `unknown`: it may have got in, and is never typed again.
 */
export interface Outcome {
  state: Extract<PushState, "submitted" | "typed" | "refused" | "expired" | "unknown" | "ignored">;
  reason?: Reason;
  retryAfterSeconds?: number;
  /** Of an agent that was started. */
  agentSessionName?: string;
  /** The pane that was meant, once it was found. */
  pane?: string;
}

/** States on the way. */
export interface Progress {
  state: Extract<PushState, "delivered" | "held" | "typed">;
  reason?: Reason;
}

export function refused(reason: Reason, retryAfterSeconds?: number): Outcome {
  return { state: "refused", reason, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
}

/** The daemon stops while a message waits: it stays open, and the relay sends it again. */
export class Stopping extends Error {
  override name = "Stopping";
}
