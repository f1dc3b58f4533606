/** Formats a receipt as one line, for comparisons. */
import type { Receipt } from "../../src/protocol/receipt.ts";

/** Returns `refused muted`, or `submitted`. */
export function outcomeOf({ state, reason }: Pick<Receipt, "state" | "reason">): string {
  return reason === undefined ? state : `${state} ${reason}`;
}
