/** Sums up the tries of a race: approvals, losses, untrue receipts, and the delay of a message. */
import type { Try } from "./race.ts";

export interface RaceAccount {
  tries: number;
  approvals: number;
  lost: number;
  duplicated: number;
  /** Receipts that disagree with what happened. */
  untrue: number;
  unknown: number;
  /** Queued in the agent, which put them back into its input line when the person rejected the dialog. */
  returned: number;
  /** Reached the model only with the person's next prompt. */
  late: number;
  medianMs: number;
  p99Ms: number;
}

/** True if the message never reached the model and its sender was not informed. */
export function isLost(one: Try): boolean {
  const { arrived, receipt: { state } } = one;
  return arrived === 0 && !isReturned(one) && state !== "refused" && state !== "expired";
}

/**
 * True if the agent put the message back. That happens only at a rejected dialog; at an allowed one the message is
 * lost.
 */
function isReturned({ answer, left, arrived, receipt: { state } }: Try): boolean {
  return answer === "reject" && left && arrived === 0 && state === "submitted";
}

/** True if the receipt agrees with what happened. `unknown` claims nothing; a profiled agent never gets `typed`. */
export function isTrue(one: Try): boolean {
  const { arrived, receipt: { state } } = one;
  switch (state) {
    case "submitted":
      return arrived === 1 || isReturned(one);
    case "refused":
    case "expired":
      return arrived === 0;
    case "unknown":
      return true;
    default:
      return false;
  }
}

/** Returns the value below which this share of the values lies; 0 if there are none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

export function account(all: readonly Try[]): RaceAccount {
  const count = (holds: (one: Try) => boolean): number => all.filter(holds).length;
  const delays = all.flatMap(({ delayMs }) => delayMs ?? []);
  return {
    tries: all.length,
    approvals: count(({ approved }) => approved),
    lost: count(isLost),
    duplicated: count(({ arrived }) => arrived > 1),
    untrue: count((one) => !isTrue(one)),
    returned: count(isReturned),
    unknown: count(({ receipt }) => receipt.state === "unknown"),
    late: count(({ late }) => late),
    medianMs: Math.round(quantile(delays, 0.5)),
    p99Ms: Math.round(quantile(delays, 0.99)),
  };
}

/** Formats `cc with hooks: tries 20, approvals 0, …`, as the claims read it. */
export function accountLine(name: string, { medianMs, p99Ms, ...counts }: RaceAccount): string {
  const parts = Object.entries(counts).map(([what, count]) => `${what} ${count}`).join(", ");
  return `race ${name}: ${parts}, delay median ${medianMs} ms p99 ${p99Ms} ms`;
}
