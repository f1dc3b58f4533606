/** Adds up the tries of a race: approvals, losses, untrue receipts, and the delay of a message. */
import type { Try } from "./race.ts";

export interface RaceAccount {
  tries: number;
  approvals: number;
  lost: number;
  doubled: number;
  /** Receipts that say something else than what happened. */
  untrue: number;
  unknown: number;
  /** Queued in the agent, which put them back into its input line when the person rejected the dialog. */
  returned: number;
  /** Reached the model with the person's next prompt only. */
  late: number;
  medianMs: number;
  p99Ms: number;
}

/** A message is lost when it never reached the model, and its sender was not informed of that. */
export function isLost(one: Try): boolean {
  const { arrived, receipt: { state } } = one;
  return arrived === 0 && !isReturned(one) && state !== "refused" && state !== "expired";
}

/** Only a rejected dialog gives a queued message back: at an allowed one it counts as lost. */
function isReturned({ answer, left, arrived, receipt: { state } }: Try): boolean {
  return answer === "reject" && left && arrived === 0 && state === "submitted";
}

/** Whether the receipt says what happened. `unknown` claims nothing; a profiled agent has no `typed`. */
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

/** The value below which this share of them lies; 0 for none. */
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
    doubled: count(({ arrived }) => arrived > 1),
    untrue: count((one) => !isTrue(one)),
    returned: count(isReturned),
    unknown: count(({ receipt }) => receipt.state === "unknown"),
    late: count(({ late }) => late),
    medianMs: Math.round(quantile(delays, 0.5)),
    p99Ms: Math.round(quantile(delays, 0.99)),
  };
}

/** `cc with hooks: tries 20, approvals 0, …`, as the claims read it. */
export function accountLine(name: string, { medianMs, p99Ms, ...counts }: RaceAccount): string {
  const parts = Object.entries(counts).map(([what, count]) => `${what} ${count}`).join(", ");
  return `race ${name}: ${parts}, delay median ${medianMs} ms p99 ${p99Ms} ms`;
}
