/** How an injection ends, and what it says on the way. */
import type { PushState, Reason } from "../protocol/receipt.ts";

/** Final states; `typed` is final when nothing proved that the agent took the text. */
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
